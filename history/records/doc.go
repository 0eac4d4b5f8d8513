// SPDX-License-Identifier: Apache-2.0

// Package records keeps what ports counted, over time: by seconds, minutes and hours, in one SQLite file of bounded
// size beside the history, so that no commit waits for it.
//
// What a port counted between two readings is a [Sample]. The samples of one round of reading are packed by blocks of
// 1,024 ports, column by column, those that counted nothing left out. Errors are kept to the unit; data, packets and
// waits to 9 binary digits, which is off by one in 512 at most. Seconds are rolled up to minutes and these to hours;
// what is too much goes, the oldest of the finest first.
package records
