// Package fleet splits a campaign over machines that share nothing but files. There is no
// server: whoever has a scheduler starts shards with it, and merges what they leave.
//
// A Plan cuts a campaign into units: a range of the inputs of one source for one pair, of
// about half a minute (package fuzz/engine, Unit). A Shard works on the units whose number modulo the
// number of shards is its own, and then helps others. What a unit finds depends on the plan
// alone, so it does not matter who works on it, when, or how often: duplicates have the same
// bytes. Merge is a function of the set of units that it is given.
//
// A plan may have commands as targets (exec:), which opening its pairs runs: Plan.Open is for
// plans that are trusted. The command line asks first, or is told --allow-exec.
//
// # The directory of shards
//
//	campaign.json   the plan
//	units/N         the result of unit N, one line of a journal
//	units.log       results that were merged into this directory: the same lines, by number
//	leases/N        who works on unit N
//	shards/NAME     who is there: a heartbeat
//	rounds/N.json   what the units of round N learn from the rounds before it
//	triage/KEY      a verdict, or a case that was shrunk
//
// Every file appears complete, by a rename; none is ever locked. A lease is made by
// exclusive creation, which NFS has, and is no more than advice: it keeps shards from working
// on the same unit. Its holder counts in its heartbeat; a lease is free when the count has not
// changed for a minute, by the clock of the shard that wants it. Clocks of different machines
// are not compared.
//
// # Rounds
//
// A round mutates the inputs with new features that the units of all earlier rounds have
// found. For a pair with a unit whose arithmetic is not known, the verdict of the earlier
// rounds names the causes. The first round is a sixteenth of the work. Units that need no
// feedback are worked on while others wait for it. Shards with directories of their own have
// to stop at the end of a round; they can go on when all directories are merged into each.
//
// # Triage
//
// When all units are done, the search for verdicts and the minimization of a case of each
// cause are left. Merging does them. If there are many such steps, the shards of a directory
// do them first, each step under a lease, and merging takes their results. It makes no
// difference to the outcome.
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
//	leased             number   that somebody works on, or did when it was killed
//	rounds             number   of the plan
//	round              number   that is in progress, from 0; as many as there are when all are done
//	dots               number   dot products of the units that are done
//	mismatches         number   of these, those that differ
//	triaged            number   steps of triage that shards have done for merge
//	rate               number   dot products a second, of the last minutes; 0: unknown, or no shard is alive
//	eta_seconds        number   until all units are done at that rate; 0: unknown, or finished
//	shards[].name      string?  of its heartbeat; the last one, if it was started again
//	shards[].shard     number?  its number
//	shards[].of        number?
//	shards[].host      string?
//	shards[].state     string?  alive, ended, or silent for longer than a lease holds
//	shards[].age       number?  seconds since its heartbeat, by the clocks of the two machines
//	shards[].units     number?  that it has done, before it was started again too
//	shards[].dots      number?
//	shards[].rate      number?  dot products a second since it began
//	causes[].name      string?  primary cause
//	causes[].cases     number?  of the units that are done
//	causes[].since     number?  seconds since the first unit with it was done; 0 if that is not known because its result was merged
//	causes[].at_units  number?  how many units had been done then; merged results count as done first, in the order of their numbers
//
// The event shard comes last in run --campaign, also after an interrupt:
//
//	plan        string  its digest
//	shard       string  I/N, as it was given
//	units       number  units of the plan
//	done        number  of these, those that have a result in the directory
//	here        number  units that this process has done
//	dots        number  dot products of these
//	mismatches  number  of these, those that differ
//	triaged     number  steps of triage that this process has done for merge
//	seconds     number  since the start
//	complete    bool    nothing is left that this shard can do; else the same command goes on
package fleet
