// What an exception of Python says, and where it was raised.
#pragma once

#include <Python.h>

#include <string>

namespace softdock {

// " (FILE, line N)": the deepest frame in the folder of the outermost one, so that what a block
// calls of a library is told as the block's line; empty if there is no traceback.
std::string place_of(PyObject* traceback);

}  // namespace softdock
