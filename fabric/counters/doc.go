// SPDX-License-Identifier: Apache-2.0

// Package counters reads what ports have counted: packets, data and errors, and says which errors matter.
//
// Agents are asked by LID, so the subnet must be routed. A port that does not answer is [Unanswered].
package counters
