// A Python block, called by the engine.
#pragma once

#include <Python.h>

#include <vector>

#include "core/unit.hpp"

namespace softdock {

// A scalar connector is an attribute that holds a float, int or bool; an array connector is an
// attribute that holds a float64 array, whose memory the engine reads and writes directly.
struct Port {
    PyObject* name;              // interned attribute name, owned by the unit
    char type;                   // 'f' Real, 'i' Integer, 'b' Boolean
    std::size_t size;            // elements
    double* array;               // null for a scalar; else the block's own memory
    PyObject* keeper;            // owner of that memory, owned by the unit
    double* waveform = nullptr;  // of an input that is followed: value and derivatives, in rows
};

// A connector that holds a str, or bytes.
struct TextPort {
    PyObject* name;  // interned attribute name, owned by the unit
    bool binary;
};

class PythonUnit final : public Unit {
  public:
    // Takes new references to everything that it keeps; the caller holds the GIL.
    PythonUnit(PyObject* block, std::string name, std::vector<Port> inputs,
               std::vector<Port> outputs);
    ~PythonUnit() override;

    // The block follows its inputs over the step: it gets `waveforms` as the last argument of
    // follow(). It owns the memory at `places`, one for each input, null where that is no Real:
    // 1 + most_order rows of the input's size.
    void bind_waveforms(PyObject* waveforms, const std::vector<double*>& places);
    int input_order() const override { return waveforms_ ? most_order : 0; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;

    void bind_texts(std::vector<TextPort> inputs, std::vector<TextPort> outputs);
    Status set_texts(const std::string* values) override;
    Status get_texts(std::string* values) override;

    // By the block's get_state and set_state.
    bool can_roll_back() const override { return true; }
    bool needs_interpreter() const override { return true; }
    bool interrupted() const override;
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;

    // The exception of a failed call (new reference, may be null): for the Python side to chain.
    PyObject* take_exception();

    // For the garbage collector: a block's class may lead back to whoever holds this unit.
    int traverse(visitproc visit, void* arg);
    void clear();

  private:
    Status fail();
    bool read(const Port& port, double*& values);
    bool read(const TextPort& port, std::string& value);
    Status fail_at_output(PyObject* name);
    bool shares_memory(const Port& port) const;

    PyObject* block_;
    PyObject* step_name_;
    PyObject* waveforms_ = nullptr;
    std::vector<Port> inputs_, outputs_;
    std::vector<TextPort> text_inputs_, text_outputs_;
    std::vector<PyObject*> kept_;  // saved states by number
    PyObject* exception_ = nullptr;
};

}  // namespace softdock
