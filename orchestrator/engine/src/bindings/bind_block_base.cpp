// The base of Block: a state is what it was when it was assigned, whoever writes into an array
// afterwards.
#include "bindings/bindings.hpp"
#include "bindings/python_error.hpp"

namespace nb = nanobind;

namespace softdock {
namespace {

bool is_array(PyObject* value) { return PyObject_HasAttrString(value, "__array_interface__"); }

// Numbers (of numpy too), texts and nothing are most of what is assigned, and share no memory.
bool is_plain(PyObject* value) {
    return PyFloat_Check(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
           PyUnicode_CheckExact(value) || value == Py_None;
}

bool has_array(PyObject* value) {
    if (!PyTuple_Check(value) && !PyList_Check(value)) return is_array(value);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
        PyObject* each = PySequence_Fast_GET_ITEM(value, i);
        if (!is_plain(each) && is_array(each)) return true;
    }
    return false;
}

// 1 or 0; -1 if an exception is set.
int is_state(PyObject* self, PyObject* name) {
    PyObject* states = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "states");
    if (!states) return -1;
    const int found = PySequence_Contains(states, name);
    Py_DECREF(states);
    return found;
}

PyObject* copied(PyObject* value) {
    PyObject* module = PyImport_ImportModule("copy");
    PyObject* made = module ? PyObject_CallMethod(module, "deepcopy", "(O)", value) : nullptr;
    Py_XDECREF(module);
    return made;
}

int assign(PyObject* self, PyObject* name, PyObject* value) {
    if (!value || is_plain(value) || !has_array(value)) {
        return PyObject_GenericSetAttr(self, name, value);
    }
    const int state = is_state(self, name);
    if (state < 0) return -1;
    if (!state) return PyObject_GenericSetAttr(self, name, value);
    PyObject* own = copied(value);
    const int failed = own ? PyObject_GenericSetAttr(self, name, own) : -1;
    Py_XDECREF(own);
    return failed;
}

PyType_Slot slots[] = {{Py_tp_setattro, reinterpret_cast<void*>(assign)}, {0, nullptr}};
PyType_Spec spec = {"orchestrator.engine._engine.BlockBase", sizeof(PyObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

void bind_block_base(nb::module_& module) {
    module.attr("BlockBase") = nb::steal(PyType_FromSpec(&spec));
    module.def(
        "place_of", [](const nb::object& traceback) { return text(place_of(traceback.ptr())); },
        nb::arg().none());
}

}  // namespace softdock
