// SPDX-License-Identifier: Apache-2.0

// Package apply writes LIDs, forwarding tables and port states to a subnet, and
// reads back what it wrote.
//
// It decides nothing: what to write is in [Writes]. A node that does not answer
// keeps no other one from being written, since a subnet that is half new is
// worse off than one of which a silent switch is old; the [Report] says what is
// left.
package apply
