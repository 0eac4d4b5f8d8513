// SPDX-License-Identifier: Apache-2.0

// Package session holds the work of one engineer on one subnet: the live, base, what-if and staged states, and the
// operations on them.
//
// States are values: an operation computes a new one and replaces the old one. Operations run one at a time.
// [Session.State] does not wait for them, so that the screen is drawn during a sweep or a routing.
//
// Other packages have the connection to the subnet (connection), the engines and options (settings), results derived
// from tables (analysis), the history (recorder), recorded counters (recording), problems (survey) and writing
// (commits). This package reads the subnet (sweep.go, keep.go, news.go), simulates (failure.go, topology.go), routes
// (route.go) and compares with the subnet manager (calibrate.go).
//
// # Locks
//
// Locks are taken in the order of this list. Only op, the lock of recalled states and that of the records are held
// while waiting for another goroutine, the network or a disk.
//
//   - op is held by an operation from begin to end; another one gets [ErrBusy]. It guards the fields that only
//     operations use.
//   - The lock of recalled states is held while one is read from the history, the lock of the records while their file
//     is opened.
//   - The lock of the connection guards its line. The session is notified of a lost line under it.
//   - The lock of a result under analysis is held while its progress is reported to those that wait for it.
//   - mu guards the state and its watchers while some fields are copied or changed. No method of the session is called
//     under it.
//   - The lock of the analysis guards its results. Under mu the analysis gets the tables of the present states.
//
// A process may have several sessions. They share nothing.
package session
