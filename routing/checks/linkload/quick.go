// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
)

// Quick are the published measures by as many patterns as are quick; nil where there are no two hosts.
type Quick struct {
	Shifts     *Shifted  `json:"shifts,omitempty"`
	Bisections *Bisected `json:"bisections,omitempty"`
}

const (
	// quickPaths is how many paths each of shifts and bisections follows.
	quickPaths = 500_000
	// SomeBisections are enough where nobody says how many.
	SomeBisections = 100
)

// Quickly measures shifts and random bisections of hosts in an order that may have gaps.
func Quickly(ctx context.Context, t *fabric.Tables, hosts []fabric.PortIndex, seed uint64, progress func(done, total int)) (q Quick, err error) {
	there := WithoutGaps(hosts)
	if len(there) < 2 {
		return q, nil
	}
	if q.Shifts, err = Shifts(ctx, t, hosts, quickPaths/len(hosts)+1, progress); err != nil {
		return q, err
	}
	q.Bisections, err = Bisections(ctx, t, there, min(SomeBisections, 2*quickPaths/len(hosts)+1), seed, progress)
	return q, err
}

// WithoutGaps are the hosts of an order that has [fabric.None] where there is none.
func WithoutGaps(hosts []fabric.PortIndex) []fabric.PortIndex {
	return slices.DeleteFunc(slices.Clone(hosts), func(h fabric.PortIndex) bool { return h == fabric.None })
}
