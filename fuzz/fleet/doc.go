// Package fleet splits a campaign over machines that share nothing but files. There is no
// server: whoever has a scheduler starts shards with it, starts them again when they were
// killed, and merges what they leave.
//
// A Plan cuts a campaign into units: a range of the inputs of one source for one pair, of
// about half a minute (package fuzz/engine, Unit). A Shard does the units whose number modulo the
// number of shards is its own, and of others those that its own need and nobody does. What a unit finds depends on the plan alone, so
// it does not matter who works on it, when, or how often: duplicates have the same bytes. Merge
// is a function of the set of units that it is given.
//
// A plan may have commands as targets (exec:), which opening its pairs runs: Plan.Open is for
// plans that are trusted. The command line asks first, or is told --allow-exec.
//
// # The directory of shards, and of merged results
//
//	campaign.json                the plan
//	units/I-of-N.HOST.RANDOM     the log of a process of shard I: its results, one a line
//	units/merged.DIGEST          results that were merged, by number; DIGEST is that of the numbers
//	NAME.damaged                 a file in which something was damaged
//
// The results of a directory are those of all its logs together. Every log has one writer: that of
// a shard has a random name, and only its process appends to it; a merged one appears complete,
// by a rename, and stays as it is. So processes do not disturb each other, on one machine or
// on several, whatever their names, numbers and clocks. A merge removes earlier merged logs
// once the one that has all their units is on disk. Nobody removes the log of a shard.
//
// Before its first result, and as long as a merged log is being written, there is a hidden
// temporary file, which its process holds locked. The next shard or merge in the directory
// removes those of processes that were killed.
//
// A line has a checksum. If one is wrong, the log is set aside: it is renamed, which a warning
// says, its other lines still count, and the next process of the shard computes again what is
// missing.
//
// # Rounds
//
// A round mutates the inputs with new features that the units of all earlier rounds have
// found. For a pair with a unit whose arithmetic is not known, the verdict of the earlier
// rounds names the causes. The first round is a sixteenth of the work. A shard does its units
// that need no feedback first, then waits for the units of other shards as long as these
// write results. Those that nobody works on it does itself, so that a shard that is alone gets on.
// Shards with directories of their own do not see each other: with OwnOnly they stop at the end of
// a round, and go on when all directories are merged into each.
//
// When all units are done, cases are explained and minimized: merging does that.
//
// The API of this package is not promised: it may change in any version.
//
// # JSON
//
// What mmafuzz status --json writes is an object with the fields of the first table; ? marks
// fields that are not always there.
//
// status:
//
//	plan               string   its digest
//	count              number   dot products planned, of all pairs
//	units              number   of the plan
//	done               number   of these, those with a result
//	rounds             number   of the plan
//	round              number   that is in progress, from 0; as many as there are when all are done
//	dots               number   dot products of the units that are done
//	mismatches         number   of these, those that differ
//	rate               number?  dot products a second, of the last minutes, if it is known and a shard is alive
//	eta_seconds        number?  until all units are done at that rate, if it is known
//	shards[].shard     number?  its number
//	shards[].of        number?
//	shards[].host      string?  of the process that has written last
//	shards[].state     string?  done (all its units are), alive, ended (its process was killed or interrupted, on this machine), or silent: no result for long
//	shards[].age       number?  seconds since it has written, by the clocks of this machine and of the file system
//	shards[].units     number?  that it has done, before it was started again too
//	shards[].dots      number?
//	shards[].rate      number?  dot products a second, of the last minutes
//	causes[].name      string?  primary cause
//	causes[].cases     number?  of the units that are done
//	causes[].since     number?  seconds since the first unit with it was done; not there if its result was merged
//	causes[].at_units  number?  how many units had been done then; merged results count as done first, in the order of their numbers
//
// The event shard comes last in run --campaign, also after an interrupt:
//
//	plan        string  its digest
//	shard       string  I/N, as it was given
//	units       number  units of the plan
//	done        number  of these, those that have a result in the directory
//	here        number  units that this process has done
//	others      number  of these, units of other shards
//	dots        number  dot products of the units done here
//	mismatches  number  of these dot products, those that differ
//	seconds     number  since the start
//	complete    bool    nothing is left that this shard can do; else the same command goes on
package fleet
