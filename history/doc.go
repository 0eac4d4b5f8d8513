// SPDX-License-Identifier: Apache-2.0

// Package history keeps what a subnet was: sweeps, routings, loads and commits, each as a snapshot of its fabric
// and tables, and the journal of commits from which one that was interrupted is brought to an end or taken back.
//
// It is one SQLite file, which several consoles may use at once. What snapshots share is stored once: fabrics
// as they are, forwarding tables in pieces of 4,096 LIDs.
package history
