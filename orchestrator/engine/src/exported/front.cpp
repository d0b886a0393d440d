#include "exported/front.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace softdock {

namespace {

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

}  // namespace

std::string escaped(const std::string& text) {
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto first = static_cast<unsigned char>(text[i]);
        const std::size_t more = first < 0x80                    ? 0
                                 : first >= 0xc2 && first < 0xe0 ? 1
                                 : first >= 0xe0 && first < 0xf0 ? 2
                                 : first >= 0xf0 && first < 0xf5 ? 3
                                                                 : text.size();
        std::size_t found = 0;
        while (found < more && i + found + 1 < text.size() &&
               (text[i + found + 1] & 0xc0) == 0x80) {
            ++found;
        }
        if (found < more) {
            made += '?';
            continue;
        }
        if (first == '#') made += '#';
        made.append(text, i, more + 1);
        i += more;
    }
    return made;
}

std::string folder_of_uri(std::string uri) {
#ifdef _WIN32
    std::replace(uri.begin(), uri.end(), '\\', '/');
#endif
    if (uri.compare(0, 5, "file:") != 0) return without_slash(uri);
    std::string path = uri.substr(5);
    if (path.compare(0, 2, "//") == 0) path.erase(0, path.find('/', 2));
    std::string made;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const bool coded = path[i] == '%' && i + 2 < path.size() &&
                           std::isxdigit(static_cast<unsigned char>(path[i + 1])) &&
                           std::isxdigit(static_cast<unsigned char>(path[i + 2]));
        made += coded ? static_cast<char>(std::strtol(path.substr(i + 1, 2).c_str(), nullptr, 16))
                      : path[i];
        if (coded) i += 2;
    }
#ifdef _WIN32
    if (made.size() > 2 && made[2] == ':') made.erase(0, 1);  // "/C:/folder"
#endif
    return without_slash(made);
}

}  // namespace softdock
