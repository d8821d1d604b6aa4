// Package checklist runs everything that is worth running on hardware that is rarely
// at hand, unattended and in a fixed time: mmafuzz doctor --checklist DIR.
//
//	loader        the device, its driver, and what results depend on
//	kernels       every kernel compiles, by the driver and by ptxas if it is there
//	self-test     layout, position independence, repeatability, machine code
//	questions     what nobody has shown: expected and observed
//	recordings    results to keep, small enough to be committed
//	differential  raw bits and every directed generator against the simulators
//	interface     the same device by Vulkan: the same silicon, another compiler
//	inference     the arithmetic as the results alone show it
//	speed         results a second at several batch sizes, overheads, latency
//
// # Time
//
// Every step has a share of the time that is left when it begins; what it does not
// need, later ones have. Within a step every instruction has its turn. Recordings
// come before the differential run, which takes all the time that it gets.
//
// # Failures
//
// A step on one instruction that fails is a row of the report, and the next one
// begins. Everything is written to the journal at once, DIR/journal: started
// again with the same directory, the checklist does what is not done yet, and does
// not begin a third time what has ended the program twice.
//
// # Any target
//
// Nothing but the kernels and some speeds needs a GPU: the checklist of a simulator
// or of a child process is the same.
//
// The API of this package is not promised: it may change in any version.
package checklist
