// Package checklist runs everything that is worth running on hardware to which one rarely
// has access, unattended and in a fixed time: mmafuzz doctor --checklist DIR.
//
//	loader        the device, its driver, and what results depend on
//	kernels       every kernel compiles, by the driver and by ptxas if it is there
//	self-test     layout, position independence, repeatability, machine code
//	questions     inputs whose results are not published: expected and observed
//	recordings    results to keep, small enough to be committed
//	differential  raw bits and every directed generator against the simulators
//	interface     the same device through Vulkan: the same silicon, another compiler
//	inference     the arithmetic, from the results alone
//	speed         results a second at several batch sizes, overheads, latency
//
// # Time
//
// Every step has a share of the time that is left when it begins; the time that it does not
// need is left to later ones. Within a step every instruction has its turn. Recordings
// come before the differential run, which uses all the time that it gets.
//
// # Failures
//
// If a step fails on an instruction, that is a row of the report, and the next instruction
// begins. Everything is written to the journal, DIR/journal, at once: started again with the
// same directory, the checklist does what has not been done yet, but a part that has ended
// the program twice is not begun again.
//
// # Any target
//
// Only the kernels and some speeds need a GPU: the checklist of a simulator or of a child
// process is otherwise the same.
//
// The API of this package is not promised: it may change in any version.
package checklist
