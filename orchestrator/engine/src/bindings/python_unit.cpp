#include "bindings/python_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "bindings/python_error.hpp"

namespace softdock {

namespace {

class Gil {
  public:
    Gil() : state_(PyGILState_Ensure()) {}
    ~Gil() { PyGILState_Release(state_); }
    Gil(const Gil&) = delete;
    Gil& operator=(const Gil&) = delete;

  private:
    PyGILState_STATE state_;
};

// The stable ABI has no macro for it.
void replace(PyObject*& place, PyObject* object) { Py_XDECREF(std::exchange(place, object)); }

std::string name_of(PyTypeObject* type) {
    PyObject* name = PyType_GetName(type);
    const char* text = name ? PyUnicode_AsUTF8AndSize(name, nullptr) : nullptr;
    std::string found = text ? text : "object";
    Py_XDECREF(name);
    return found;
}

PyObject* to_python(char type, double value) {
    if (type == 'b') return PyBool_FromLong(value != 0.0);
    if (type == 'i') return PyLong_FromDouble(std::nearbyint(value));
    return PyFloat_FromDouble(value);
}

// Beyond, doubles skip whole numbers.
constexpr double most_exact = 9007199254740992.0;  // 2**53

// Whether a value equals its number, and that is one of its type; else an exception is set.
bool fits(char type, double number, PyObject* value) {
    if (type == 'f') return true;
    const bool limited = type == 'b'
                             ? number == 0.0 || number == 1.0
                             : std::nearbyint(number) == number && std::fabs(number) <= most_exact;
    PyObject* same = limited ? PyFloat_FromDouble(number) : nullptr;
    const int equal = same ? PyObject_RichCompareBool(value, same, Py_EQ) : 0;
    Py_XDECREF(same);
    if (equal == 0) {
        PyErr_Format(PyExc_ValueError, "expected %s, found %R",
                     type == 'b' ? "True or False" : "a whole number of at most 2**53", value);
    }
    return equal == 1;
}

std::size_t total(const std::vector<Port>& ports) {
    std::size_t size = 0;
    for (const auto& port : ports) size += port.size;
    return size;
}

}  // namespace

PythonUnit::PythonUnit(PyObject* block, std::string name, std::vector<Port> inputs,
                       std::vector<Port> outputs)
    : Unit(std::move(name)),
      block_(Py_NewRef(block)),
      step_name_(PyUnicode_InternFromString("step")),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {
    input_count_ = total(inputs_);
    output_count_ = total(outputs_);
}

PythonUnit::~PythonUnit() {
    const Gil gil;
    for (auto* ports : {&inputs_, &outputs_}) {
        for (auto& port : *ports) {
            Py_XDECREF(port.name);
            Py_XDECREF(port.keeper);
        }
    }
    for (auto* ports : {&text_inputs_, &text_outputs_}) {
        for (auto& port : *ports) Py_XDECREF(port.name);
    }
    for (auto* state : kept_) Py_XDECREF(state);
    Py_XDECREF(exception_);
    Py_DECREF(step_name_);
    Py_XDECREF(waveforms_);
    Py_XDECREF(block_);
}

int PythonUnit::traverse(visitproc visit, void* arg) {
    Py_VISIT(block_);
    Py_VISIT(exception_);
    Py_VISIT(waveforms_);
    for (auto* state : kept_) Py_VISIT(state);
    for (auto* ports : {&inputs_, &outputs_}) {
        for (auto& port : *ports) Py_VISIT(port.keeper);
    }
    return 0;
}

void PythonUnit::clear() {
    Py_CLEAR(block_);
    Py_CLEAR(exception_);
    Py_CLEAR(waveforms_);
    for (auto*& state : kept_) Py_CLEAR(state);
}

// A block that rebinds an array connector would go on with memory that nobody else sees.
bool PythonUnit::shares_memory(const Port& port) const {
    PyObject* held = PyObject_GetAttr(block_, port.name);
    if (!held) return false;
    const bool same = held == port.keeper;
    Py_DECREF(held);
    if (!same) {
        PyErr_Format(PyExc_TypeError,
                     "array connector '%U' was replaced by another object; write into it:"
                     " self.%U[...] = value",
                     port.name, port.name);
    }
    return same;
}

Status PythonUnit::set_inputs(const double* values) {
    const Gil gil;
    for (const auto& port : inputs_) {
        if (port.waveform) {
            std::fill_n(std::copy_n(values, port.size, port.waveform), most_order * port.size, 0.0);
        }
        if (port.array) {
            if (!shares_memory(port)) return fail();
            std::memcpy(port.array, values, port.size * sizeof(double));
            values += port.size;
            continue;
        }
        PyObject* value = to_python(port.type, *values++);
        const int failed = value ? PyObject_SetAttr(block_, port.name, value) : -1;
        Py_XDECREF(value);
        if (failed) return fail();
    }
    return Status::ok;
}

void PythonUnit::bind_waveforms(PyObject* waveforms, const std::vector<double*>& places) {
    replace(waveforms_, Py_NewRef(waveforms));
    replace(step_name_, PyUnicode_InternFromString("follow"));
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].waveform = places.at(i);
}

Status PythonUnit::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > input_order()) return cannot("take such derivatives of its inputs");
    std::size_t first = 0;
    for (const auto& port : inputs_) {
        for (int k = 1; k <= derivatives.order && port.waveform; ++k) {
            std::copy_n(derivatives.of(k) + first, port.size,
                        port.waveform + static_cast<std::size_t>(k) * port.size);
        }
        first += port.size;
    }
    return Status::ok;
}

Status PythonUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    const Gil gil;
    PyObject* time = PyFloat_FromDouble(to_seconds(time_ns));
    PyObject* step = PyFloat_FromDouble(to_seconds(step_ns));
    PyObject* arguments[] = {block_, time, step, waveforms_};
    const std::size_t count = waveforms_ ? 4 : 3;
    PyObject* result = PyObject_VectorcallMethod(step_name_, arguments,
                                                 count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    Py_XDECREF(time);
    Py_XDECREF(step);
    if (!result) return fail();
    Py_DECREF(result);
    reached_.time_ns = time_ns + step_ns;
    return Status::ok;
}

Status PythonUnit::save(std::size_t number) {
    const Gil gil;
    if (number >= kept_.size()) kept_.resize(number + 1, nullptr);
    PyObject* state = PyObject_CallMethod(block_, "get_state", nullptr);
    if (!state) return fail();
    replace(kept_[number], state);
    return Status::ok;
}

Status PythonUnit::restore(std::size_t number) {
    if (number >= kept_.size() || !kept_[number]) return cannot("go back to what was not saved");
    const Gil gil;
    PyObject* result = PyObject_CallMethod(block_, "set_state", "O", kept_[number]);
    if (!result) return fail();
    Py_DECREF(result);
    return Status::ok;
}

bool PythonUnit::read(const Port& port, double*& values) {
    if (port.array) {
        if (!shares_memory(port)) return false;
        std::memcpy(values, port.array, port.size * sizeof(double));
        values += port.size;
        return true;
    }
    PyObject* value = PyObject_GetAttr(block_, port.name);
    if (!value) return false;
    const double number = PyFloat_AsDouble(value);
    const bool sound = !(number == -1.0 && PyErr_Occurred()) && fits(port.type, number, value);
    Py_DECREF(value);
    *values++ = number;
    return sound;
}

Status PythonUnit::get_outputs(double* values) {
    const Gil gil;
    for (const auto& port : outputs_) {
        if (!read(port, values)) return fail_at_output(port.name);
    }
    return Status::ok;
}

void PythonUnit::bind_texts(std::vector<TextPort> inputs, std::vector<TextPort> outputs) {
    text_inputs_ = std::move(inputs);
    text_outputs_ = std::move(outputs);
    text_input_count_ = text_inputs_.size();
    text_output_count_ = text_outputs_.size();
}

Status PythonUnit::set_texts(const std::string* values) {
    const Gil gil;
    for (const auto& port : text_inputs_) {
        const auto size = static_cast<Py_ssize_t>(values->size());
        PyObject* value = port.binary ? PyBytes_FromStringAndSize(values->data(), size)
                                      : PyUnicode_DecodeUTF8(values->data(), size, "replace");
        const int failed = value ? PyObject_SetAttr(block_, port.name, value) : -1;
        Py_XDECREF(value);
        if (failed) return fail();
        ++values;
    }
    return Status::ok;
}

bool PythonUnit::read(const TextPort& port, std::string& value) {
    PyObject* held = PyObject_GetAttr(block_, port.name);
    if (!held) return false;
    const char* data = nullptr;
    Py_ssize_t size = 0;
    if (port.binary) {
        char* bytes = nullptr;
        if (PyBytes_AsStringAndSize(held, &bytes, &size) == 0) data = bytes;
    } else if (PyUnicode_Check(held)) {
        data = PyUnicode_AsUTF8AndSize(held, &size);
    } else {
        const auto found = name_of(Py_TYPE(held));
        PyErr_Format(PyExc_TypeError, "expected str, found %.100s", found.c_str());
    }
    if (data) value.assign(data, static_cast<std::size_t>(size));
    Py_DECREF(held);
    return data != nullptr;
}

Status PythonUnit::get_texts(std::string* values) {
    const Gil gil;
    for (const auto& port : text_outputs_) {
        if (!read(port, *values++)) return fail_at_output(port.name);
    }
    return Status::ok;
}

Status PythonUnit::fail_at_output(PyObject* name) {
    const auto status = fail();
    if (const char* text = PyUnicode_AsUTF8AndSize(name, nullptr)) {
        failure_ = "output '" + std::string(text) + "': " + failure_;
    }
    return status;
}

Status PythonUnit::fail() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    PyObject* text = value ? PyObject_Str(value) : nullptr;
    const char* characters = text ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
    failure_ = type ? name_of(reinterpret_cast<PyTypeObject*>(type)) : "exception";
    if (characters) failure_ += std::string(": ") + characters;
    PyErr_Clear();
    failure_ += place_of(traceback);
    Py_XDECREF(text);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_XDECREF(exception_);
    exception_ = value;
    return Status::error;
}

bool PythonUnit::interrupted() const {
    const Gil gil;
    return exception_ && PyObject_IsInstance(exception_, PyExc_Exception) == 0;
}

PyObject* PythonUnit::take_exception() { return std::exchange(exception_, nullptr); }

}  // namespace softdock
