/* bcryptprimitives.dll: Wine 8 lacks it, and the core of pydantic calls its one function. */
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) {
  return RtlGenRandom(bytes, (ULONG)count);
}
