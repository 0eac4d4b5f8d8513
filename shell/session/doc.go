// SPDX-License-Identifier: Apache-2.0

// Package session holds the work of one engineer on one subnet: the live, base, what-if and staged states, and the
// operations on them.
//
// States are values: an operation computes a new state, which replaces the old one. Operations run one at a time.
// [Session.State] does not wait for a running operation, so that the screen can be drawn during a sweep or a routing.
//
// Other packages implement the connection to the subnet (connection), the engines and options (settings), results
// derived from tables (analysis), the history (recorder), recorded counters (recording), problems (survey) and writing
// (commits). This package reads the subnet (sweep.go, keep.go, news.go), simulates (failure.go, topology.go), routes
// (route.go) and compares with the subnet manager (calibrate.go).
//
// # Locks
//
// Locks are taken in the order of this list. Only op, the lock of recalled states and the lock of the records are held
// while waiting for another goroutine, the network or a disk.
//
//   - op is held by an operation from its beginning to its end. If op is held, another operation gets [ErrBusy], or
//     waits if its context is that of [Patiently]. It guards the fields that only operations use.
//   - The lock of recalled states is held while a state is read from the history. The lock of the records is held while
//     their file is opened.
//   - The lock of the connection guards its line. The session is notified of a lost line under this lock.
//   - The lock of a result under analysis is held while its progress is reported to the requests that wait for the
//     result.
//   - mu guards the state and its watchers while some fields are copied or changed. No method of the session is called
//     under mu.
//   - The lock of the analysis guards its results. It is taken under mu when the analysis receives the tables of the
//     present states.
//
// A process may have several sessions, which share nothing.
package session
