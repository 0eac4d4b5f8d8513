// SPDX-License-Identifier: Apache-2.0

// Package apply writes LIDs, forwarding tables and port states to a subnet, and reads back what it wrote.
//
// It decides nothing: what to write, and what of it only when something else is done, is in a [write.List].
// Where one write fails, those that could go with it are still done, for they are safe in any order, and
// nothing that waits for it is begun: the switches then hold a mixture as safe as the order of the steps is.
// The [Report] says where it stopped and what is left.
package apply
