package mine

/*
#cgo LDFLAGS: -lm
#include <math.h>

static double dot(const double *a, const double *b, double c, int k) {
	for (int i = 0; i < k; i++)
		c = fma(a[i], b[i], c);
	return c;
}
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// CDot calls the C function with the codes of a dot product. Codes of FP64 are the numbers
// themselves.
func CDot(d *mma.Dot) uint64 {
	sum := C.dot((*C.double)(unsafe.Pointer(&d.A[0])), (*C.double)(unsafe.Pointer(&d.B[0])), C.double(math.Float64frombits(d.C)), C.int(len(d.A)))
	if sum != sum {
		return 0x7fffffffffffffff // the only NaN that tensor cores give
	}
	return math.Float64bits(float64(sum))
}
