// Package journal keeps what a command has done, so that the same command goes on from there after
// an interruption, a kill, or a crash of the machine. All of these commands use it: campaigns and
// the epoch in progress, inferences, checklists, comparisons and studies.
//
// A journal is a text file of one record a line: a CRC-32C of the rest in hexadecimal, a space,
// and JSON. The first record is the Head: what the journal is of, which command began it, with
// which version of the program and with which options. A journal of something else, of other
// options, or of a program that would go on differently, is refused, and stays as it is.
//
// Records are appended, each in one write, and synced to disk in the background. When a journal
// is opened again, a last line that was cut short is dropped, and so are zeros that a crash of
// the machine left at the end. With any other damage the file is set aside under the name with
// .damaged behind it, which a warning says, and the command goes on from the records before the
// damage, or from nothing if the damage is in those of a compaction. Where the order of records
// matters, replay must tell that one is out of place. Compact puts a new file in the place of the
// old one, with the records that the old ones add up to.
//
// A journal may come from a stranger: its lines have checksums, but anybody can compute these.
// JSON with an unknown field, or with a key twice, is an error, and the caller checks what each
// record says.
//
// A journal has one writer: the process that has it open, or nobody. Read reads it at any time.
//
// The API of this package is not promised: it may change in any version.
package journal
