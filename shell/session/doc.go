// SPDX-License-Identifier: Apache-2.0

// Package session holds one engineer's work on one subnet: the pictures of it
// that are never mixed up, and what may be done with them.
//
// Pictures are values: an operation computes a new one and puts it in place of
// the old. Operations run one at a time; [Session.State] never waits for one,
// so a face draws while a sweep or a routing runs.
package session
