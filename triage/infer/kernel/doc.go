// Package kernel finds how a black box that multiplies matrices adds the products of each
// element: the unit that adds them, and the schedule of package schedule.
//
// It goes as follows, at the very shape that it is asked about, because libraries choose
// their code by it.
//
//   - Which elements are computed alike: products whose rows of A are all equal and whose
//     columns of B are all equal give the same results exactly where the order is the same.
//   - How operands are cast before they are multiplied: ties of every narrower format and numbers near the
//     ends of its range are multiplied by one.
//   - Whether all results are numbers of a narrower format: then they are rounded to
//     it, and everything else is asked as of code with results in that format.
//   - By what number the whole sum is multiplied, if code does that: what becomes
//     of a product of ones, and of sums that lie near to the middle of two
//     results. Whether that is before or after a cast, or whether it is an operand
//     that is multiplied and rounded, is tried with the units. What becomes of -1
//     and of NaNs tells a ReLU.
//   - Which partial sums there are. A large M at k = i and -M at k = j among ones hide
//     what meets M before -M: the result is the number of products outside the smallest
//     partial sum that has both i and j (FPRev, Xie et al. 2025). Each column of B, or row
//     of A, is a probe of its own. Where the result is too narrow to count all ones, they
//     are counted in chunks; where operands are too narrow for an M that hides ones, it is
//     the product of two large numbers. Sums of integers have no order to be read: where they are
//     scaled block by block, as those of quantized operands are, schedules as libraries have them are tried.
//   - Which levels of a schedule have these partial sums, and which unit then gives the
//     results of random matrices: an IEEE 754 operation, or an instruction of the
//     catalogue (of several that compute the same function, the first).
//   - Where floating-point operands have scales beside them, as those of MX, NVFP4 and FP8 have, all this is asked
//     with scales of one. Then scales are drawn, and multiplied in wherever it is usual: by the instruction, into all
//     elements before they are multiplied (dequantized), into each product, into the partial sums of a level, or
//     into the whole sum. Where numbers are so narrow that no order of a block's products shows, schedules as
//     libraries have them are tried.
//   - Validation on fresh matrices of every kind. Where an element differs, its row of A and column of B
//     are given to all elements that were taken to be computed alike. Those that now give the same
//     results form a group; one for which the schedule is wrong needs another, which is looked for in
//     the same way. If none is found, there is a witness that nothing here explains the product.
//   - Where nothing explains it: whether results change from run to run, or depend on other rows of A
//     and columns of B than their own, with the fewest such lines.
//   - How C is added, where there is one: all this is asked with a C of -0, which changes no sum. Then the usual
//     ways to add it are tried on a C that is drawn, and the first that is right is validated in the same way. If
//     none is, the result says that it holds only where C is -0, with a witness.
//   - For every field of what was found, a schedule with another value: one that gives the
//     same results everywhere is a field that was not distinguished. Values that the products of the search
//     leave open are tried on more products: of flat matrices, and of rows of A that have a large number, its
//     negative and a few small ones among zeros, which show in which order partial sums are added.
//
// # Kinds of matrices
//
//	flat           normal numbers
//	spread         the same, times a factor of 1e-3 to 1e3 for each k
//	cancelling     small whole numbers, times powers of two: many sums cancel
//	small          products about the least normal number
//	zeros          lines of zeros of one sign, and of zeros of any sign with a few ones
//	special        a quarter zeros of any sign; infinities and NaNs in a quarter of the lines
//	large          sums about the largest number
//	activations    A has no negative numbers and a few outliers, B has small weights
//	underflow      products about the least subnormal number and zeros, most lines of one sign
//	scaled lines   each line has a scale of its own, from subnormal to the largest numbers
//	sparse         runs of zeros; infinities and NaNs in a quarter of the lines
//	near ties      sums that lie close to the middle between two numbers
//	opposites      most products have their negative among the others: sizes from 2^-50 to 2^50
//	symmetric      B is A transposed
//	mixed lines    each line is of any other kind, of any or one sign; in a quarter of them
//	               all numbers are equal; in some matrices all rows, or all columns, are the same
//
// Where operands are cast, half of the matrices have the numbers of these kinds for the format to which they
// are cast, and a quarter of the lines only numbers that are, or nearly are, its ties.
//
// Lines are the rows of A and the columns of B. What depends on values that none of these
// has, or happens less often than once in the products that were validated, is not seen.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// infer --shape, also in the file report.json:
//
//	target               string
//	instruction          string
//	environment          object?*  what the target says that results may depend on
//	seed                 number    of all matrices
//	nan                  string    how NaNs were compared: bits or class
//	zero                 string    the same for zeros
//	verdict              string    found, unexplained, or varies: from run to run
//	shape.M              number    rows
//	shape.N              number    columns
//	shape.K              number    products of an element
//	kernel               object?*  what was found, as in a file of gemm: go doc ./sim/schedule Kernel
//	why                  string?   why nothing was
//	restricted           string?   for which operands alone the kernel was found
//	beta                 number?   the factor of C that a kernel with beta-c or beta-c-mul needs
//	witness.row          number?   an element that the nearest schedule does not give
//	witness.column       number?
//	witness.kind         string?   of the matrices
//	witness.a[]          string?   its row of A
//	witness.b[]          string?   its column of B
//	witness.sa[]         string?   the scales of that row, if A and B have scales
//	witness.sb[]         string?   those of the column
//	witness.c            string?   what is added, if C is not -0
//	witness.d            string?   the result
//	witness.model        string?   that of the nearest schedule
//	witness.others[].of       string?  A or B: the result depends on this line, too; others are zeros
//	witness.others[].number   number?  of the line, from 0
//	witness.others[].codes[]  string?
//	witness.others[].scales[]  string?  its scales, if A and B have scales
//	witness.alone        string?   the result where these are zeros, too
//	fields[].schedule    number?   a field of a schedule, by its number from 0
//	fields[].name        string?
//	fields[].value       string?
//	fields[].ruled_out[]  string?   other values, which give other results
//	fields[].open[]      string?   other values that gave the same results: not distinguished
//	fields[].products    number?   of matrices, on which these were tried
//	fields[].same[]      string?   other values that are the same operations at this shape
//	elements[]           number?   of D, by schedule
//	products             number    that the target was asked for
//	validated            number    elements of D that were compared in the end
//	validated_products   number    products that these are of
//	kinds[]              string?   of matrices that they come from
//
// The API of this package is not promised: it may change in any version.
package kernel
