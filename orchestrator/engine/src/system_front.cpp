#include "system_front.hpp"

#include <cctype>
#include <cstdlib>

namespace softdock {

std::string folder_of_uri(const std::string& uri) {
    std::string path = uri;
    if (path.compare(0, 5, "file:") == 0) {
        path.erase(0, 5);
        if (path.compare(0, 2, "//") == 0) path.erase(0, path.find('/', 2));
    }
    std::string made;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const bool coded = path[i] == '%' && i + 2 < path.size() &&
                           std::isxdigit(static_cast<unsigned char>(path[i + 1])) &&
                           std::isxdigit(static_cast<unsigned char>(path[i + 2]));
        made += coded ? static_cast<char>(std::strtol(path.substr(i + 1, 2).c_str(), nullptr, 16))
                      : path[i];
        if (coded) i += 2;
    }
    while (made.size() > 1 && made.back() == '/') made.pop_back();
    return made;
}

}  // namespace softdock
