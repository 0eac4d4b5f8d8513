// SPDX-License-Identifier: Apache-2.0

// Package sweep reads a subnet by directed routes: its nodes, ports and links,
// and what its switches hold. It writes nothing.
//
// What does not answer becomes [Unanswered], and what contradicts itself a warning, of which the first answer
// wins: a subnet that is partly broken is still seen.
package sweep
