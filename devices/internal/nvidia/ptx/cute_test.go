package ptx_test

// The layouts of fragments as CUTLASS writes them (include/cute/atom/
// mma_traits_sm*.hpp): thread t and value v of an operand are element
// i + rows*k, where each is a number in a mixed radix whose digits have strides.
// They say the same as the formulas of package ptx and have nothing in common
// with how they are written.

// cute is a layout of threads and values.
type cute struct {
	thread, threadStride []int
	value, valueStride   []int
}

// at returns the element of a thread's value.
func (c cute) at(t, v int) int {
	return digits(t, c.thread, c.threadStride) + digits(v, c.value, c.valueStride)
}

func digits(n int, shape, stride []int) int {
	sum := 0
	for i, s := range shape {
		sum += n % s * stride[i]
		n /= s
	}
	return sum
}

var quads = []int{4, 8} // the threads of a warp

// layoutsA are the layouts of A, by shape (of the elements that a sparse A keeps)
// and the bits of an element in its register.
var layoutsA = map[string]cute{
	"m8n8k4 64":    {quads, []int{8, 1}, []int{1}, []int{0}},
	"m16n8k4 64":   {quads, []int{16, 1}, []int{2}, []int{8}},
	"m16n8k8 64":   {quads, []int{16, 1}, []int{2, 2}, []int{8, 64}},
	"m16n8k16 64":  {quads, []int{16, 1}, []int{2, 4}, []int{8, 64}},
	"m16n8k4 32":   {quads, []int{16, 1}, []int{2}, []int{8}},
	"m16n8k8 32":   {quads, []int{16, 1}, []int{2, 2}, []int{8, 64}},
	"m16n8k8 16":   {quads, []int{32, 1}, []int{2, 2}, []int{16, 8}},
	"m16n8k16 16":  {quads, []int{32, 1}, []int{2, 2, 2}, []int{16, 8, 128}},
	"m16n8k16 8":   {quads, []int{64, 1}, []int{4, 2}, []int{16, 8}},
	"m16n8k32 8":   {quads, []int{64, 1}, []int{4, 2, 2}, []int{16, 8, 256}},
	"m16n8k64 4":   {quads, []int{128, 1}, []int{8, 2, 2}, []int{16, 8, 512}},
	"m8n8k16 8":    {quads, []int{32, 1}, []int{4}, []int{8}},
	"m8n8k32 4":    {quads, []int{64, 1}, []int{8}, []int{8}},
	"m16n8k32 4":   {quads, []int{128, 1}, []int{8, 2}, []int{16, 8}},
	"m8n8k128 1":   {quads, []int{256, 1}, []int{32}, []int{8}},
	"m16n8k128 1":  {quads, []int{512, 1}, []int{32, 2}, []int{16, 8}},
	"m16n8k256 1":  {quads, []int{512, 1}, []int{32, 2, 2}, []int{16, 8, 2048}},
	"m64k8 32":     {[]int{4, 8, 4}, []int{64, 1, 16}, []int{2, 2}, []int{8, 256}},
	"m64k16 16":    {[]int{4, 8, 4}, []int{128, 1, 16}, []int{2, 2, 2}, []int{64, 8, 512}},
	"m64k32 8":     {[]int{4, 8, 4}, []int{256, 1, 16}, []int{4, 2, 2}, []int{64, 8, 1024}},
	"m8n8k4 16row": {[]int{8}, []int{1}, []int{4}, []int{8}},
	"m8n8k4 16col": {[]int{4, 2}, []int{8, 4}, []int{4}, []int{1}},
}

// layoutsB are those of B, element n + 8*k, by all columns of a sparse A.
var layoutsB = map[string]cute{
	"m8n8k4 64":    {quads, []int{8, 1}, []int{1}, []int{0}},
	"m16n8k4 64":   {quads, []int{8, 1}, []int{1}, []int{0}},
	"m16n8k8 64":   {quads, []int{8, 1}, []int{2}, []int{32}},
	"m16n8k16 64":  {quads, []int{8, 1}, []int{4}, []int{32}},
	"m16n8k4 32":   {quads, []int{8, 1}, []int{1}, []int{0}},
	"m16n8k8 32":   {quads, []int{8, 1}, []int{2}, []int{32}},
	"m16n8k16 32":  {quads, []int{8, 1}, []int{4}, []int{32}},
	"m16n8k8 16":   {quads, []int{16, 1}, []int{2}, []int{8}},
	"m16n8k16 16":  {quads, []int{16, 1}, []int{2, 2}, []int{8, 64}},
	"m16n8k32 16":  {quads, []int{16, 1}, []int{2, 4}, []int{8, 64}},
	"m16n8k16 8":   {quads, []int{32, 1}, []int{4}, []int{8}},
	"m16n8k32 8":   {quads, []int{32, 1}, []int{4, 2}, []int{8, 128}},
	"m16n8k64 8":   {quads, []int{32, 1}, []int{4, 4}, []int{8, 128}},
	"m16n8k64 4":   {quads, []int{64, 1}, []int{8, 2}, []int{8, 256}},
	"m16n8k128 4":  {quads, []int{64, 1}, []int{8, 4}, []int{8, 256}},
	"m8n8k16 8":    {quads, []int{32, 1}, []int{4}, []int{8}},
	"m8n8k32 4":    {quads, []int{64, 1}, []int{8}, []int{8}},
	"m16n8k32 4":   {quads, []int{64, 1}, []int{8}, []int{8}},
	"m8n8k128 1":   {quads, []int{256, 1}, []int{32}, []int{8}},
	"m16n8k128 1":  {quads, []int{256, 1}, []int{32}, []int{8}},
	"m16n8k256 1":  {quads, []int{256, 1}, []int{32, 2}, []int{8, 1024}},
	"m8n8k4 16col": {[]int{8}, []int{1}, []int{4}, []int{8}},
	"m8n8k4 16row": {[]int{4, 2}, []int{8, 4}, []int{4}, []int{1}},
}

// layoutC returns the layout of C and D, element i + m*j.
func layoutC(m, n, bits int, quadPair bool) cute {
	switch {
	case quadPair && bits == 16:
		return cute{[]int{8}, []int{1}, []int{8}, []int{8}}
	case quadPair:
		return cute{[]int{2, 2, 2}, []int{1, 16, 4}, []int{2, 2, 2}, []int{8, 2, 32}}
	case m == 8:
		return cute{quads, []int{16, 1}, []int{2}, []int{8}}
	case m == 16:
		return cute{quads, []int{32, 1}, []int{2, 2}, []int{16, 8}}
	}
	return cute{[]int{4, 8, 4}, []int{128, 1, 16}, []int{2, 2, n / 8}, []int{64, 8, 512}}
}
