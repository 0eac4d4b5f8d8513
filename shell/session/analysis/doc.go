// SPDX-License-Identifier: Apache-2.0

// Package analysis owns what follows from forwarding tables: which paths arrive, what
// links carry, what differs between two pictures, whether there is a credit loop.
//
// A [Memo] computes a fact when it is first asked for, remembers it for as long as its
// tables are pictured, and knows tables by their pointer, for they never change. All
// faces ask the same memo. Who asks for a fact that is being computed waits for that
// one; it ends early only when all who ask have gone. What failed is not remembered.
//
// Answers are shared: nobody changes them. The options are those of the packages that
// compute, and a fact is known by them too.
package analysis
