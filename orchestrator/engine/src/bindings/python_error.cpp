#include "bindings/python_error.hpp"

namespace softdock {

namespace {

struct Place {
    std::string file;
    long line = 0;
};

PyObject* attribute(PyObject* object, const char* name) {
    PyObject* found = object ? PyObject_GetAttrString(object, name) : nullptr;
    Py_XDECREF(object);
    if (!found) PyErr_Clear();
    return found;
}

Place place_in(PyObject* traceback) {
    Place found;
    PyObject* frame = attribute(Py_NewRef(traceback), "tb_frame");
    PyObject* file = attribute(attribute(frame, "f_code"), "co_filename");
    const char* text = file ? PyUnicode_AsUTF8AndSize(file, nullptr) : nullptr;
    if (text) found.file = text;
    Py_XDECREF(file);
    PyObject* line = attribute(Py_NewRef(traceback), "tb_lineno");
    if (line) found.line = PyLong_AsLong(line);
    Py_XDECREF(line);
    PyErr_Clear();
    return found;
}

}  // namespace

std::string place_of(PyObject* traceback) {
    if (!traceback || traceback == Py_None) return {};
    auto told = place_in(traceback);
    const auto folder = told.file.substr(0, told.file.find_last_of("/\\") + 1);
    PyObject* next = Py_NewRef(traceback);
    while ((next = attribute(next, "tb_next")) && next != Py_None) {
        auto place = place_in(next);
        if (place.file.compare(0, folder.size(), folder) == 0) told = std::move(place);
    }
    Py_XDECREF(next);
    if (told.file.empty()) return {};
    return " (" + told.file + ", line " + std::to_string(told.line) + ")";
}

}  // namespace softdock
