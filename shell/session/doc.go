// SPDX-License-Identifier: Apache-2.0

// Package session holds one engineer's work on one subnet: the pictures of it
// that are never mixed up, and what may be done with them.
//
// Pictures are values: an operation computes a new one and puts it in place of the old. Operations run one at
// a time; [Session.State] never waits for one, so a face draws while a sweep or a routing runs.
//
// Rooms of their own are the connection to the subnet (package connection), engines and options (settings),
// what follows from tables (analysis), the history that is kept (recorder) and what ports count over time (recording).
// Here are the operations: reading the subnet (sweep.go, keep.go, news.go), the paper (failure.go, route.go, load.go),
// writing (commit.go, rollback.go), and what is asked of it (problems.go, calibrate.go, paths.go, ...).
//
// # Locks
//
// They are taken in this order, and none but op and those of recalled pictures and records is held while waiting for
// another goroutine, the wire or a disk:
//
//   - op is held by the operation that runs, from begin to end. Whoever finds it taken
//     gets [ErrBusy]. It guards what only operations touch.
//   - That of recalled pictures is held while one is read out of the history, and that of
//     the records while their file is opened.
//   - That of the connection guards what line there is. Under it the session is told that
//     the line was lost.
//   - That of a fact under analysis is held while those who wait for it are told how far
//     it is.
//   - mu guards the state and who watches it, for as long as it takes to copy or change
//     some fields. No method of the session is called under it.
//   - That of the analysis guards what it remembers; under mu it is told which pictures
//     there are.
//
// A process may have several sessions: nothing here is shared between them.
package session
