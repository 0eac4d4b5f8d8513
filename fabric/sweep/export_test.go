// SPDX-License-Identifier: Apache-2.0

package sweep

// AtMost lowers the maximum number of nodes of a sweep.
func (o Options) AtMost(nodes int) Options {
	o.maxNodes = nodes
	return o
}
