// SPDX-License-Identifier: Apache-2.0

// Package sweep reads a subnet's nodes, ports, links and tables by directed routes. It writes nothing.
//
// What does not answer becomes [Unanswered], and what contradicts itself a warning, of which the first answer
// wins: a subnet that is partly broken is still seen.
package sweep
