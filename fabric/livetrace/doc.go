// SPDX-License-Identifier: Apache-2.0

// Package livetrace follows packets through a subnet as it is now: hop by hop, by the tables that the switches
// hold, read by directed route. Of an earlier sweep it needs only where the source is. What it passes is
// identified anew, so a cable that was moved or a table that was rewritten since is seen.
//
// Pairs that are traced together share what they read, so that no switch is asked twice for the same.
package livetrace
