// # JSON
//
// What mmafuzz bench --json writes. In the tables, a ? marks a field that is not always there, a * one that has any JSON
// below it; go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common.
//
// machine, an object for each run, the first, except with --list and --device:
//
//	machine.processor   string  what the processor calls itself
//	machine.processors  number  that the program may use
//	machine.os          string
//	machine.arch        string
//	machine.go          string  version
//	machine.path        string  the best of the models: portable, avx2 or avx512
//	machine.cycle_ns    number  length of a clock cycle
//
// bench, an object for each measurement, except with --soak and --device:
//
//	name                string   SECTION/..., as --list lists it
//	unit                string   ns/tile: for the 2,048 products of an m16n8k16 tile; dots/s: dot products a second
//	clock               string   thread: processor time; wall
//	runs                number
//	median              number   in unit
//	low                 number   lower quartile
//	high                number   upper quartile
//	cycles_per_product  number?  of ns/tile
//	kernel              string?  of a model
//	shape               string?  of the batches of a target: TILES x MxN
//	outside             number?  part of the time that passes outside of the computation itself, from 0 to 1
//
// With --list, these objects have only a name. With --soak, look and soak take their place:
//
// look, an object for each look at the memory, while nothing is computed:
//
//	look.seconds  number  since the start
//	look.tiles    number  done
//	look.heap     number  bytes in use after garbage collection
//	look.rss      number  bytes of the process in memory; 0: the system does not say
//
// soak, an object for each verdict, the last:
//
//	soak.verdict  string  flat, growing, or too short
//	soak.looks    number
//	soak.tiles    number  done
//	soak.seconds  number
//
// With --device, pipeline takes the place of all others:
//
// pipeline, an object for each instruction of a GPU:
//
//	pipeline.device                   string  what the driver calls the GPU
//	pipeline.inst                     string  or a load, with its bank conflicts
//	pipeline.unit                     string  of throughputs: fma (a multiplication with its addition) or bytes
//	pipeline.issues[].warps           number  of one block, on one multiprocessor
//	pipeline.issues[].ilp             number  instruction-level parallelism: chains of a warp
//	pipeline.issues[].latency_cycles  number  from one instruction of a chain to its next
//	pipeline.issues[].per_cycle       number  throughput
package bench
