// SPDX-License-Identifier: Apache-2.0

// Package counters reads what the ports of a subnet have counted: packets, data
// and errors, and says which errors are worth a look.
//
// Agents are asked by LID, so only a subnet that is routed can be read. A port
// that does not answer is [Unanswered].
package counters
