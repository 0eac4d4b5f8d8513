// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/inorder"
	"example.org/ibconsole/mad"
)

// targetName says whom a target is: by a directed route the node at its end, if that is known, and the route.
func targetName(f *fabric.Fabric, t *mad.Target) string {
	if t.LID != 0 {
		return destinationName(f, t.LID)
	}
	route := "route " + t.Path.String()
	if f.SMPort == fabric.None {
		return route
	}
	node := f.Ports[f.SMPort].Node
	for i := range t.Path.Len() {
		out := f.PortAt(node, int(t.Path.Hop(i)))
		if out == fabric.None || !f.Ports[out].Linked() {
			return route
		}
		node = f.Ports[f.Ports[out].Peer].Node
	}
	return fmt.Sprintf("%s by %s", f.NodeName(node), route)
}

// worstFirst orders targets by what they owe: answers that never came, then those that
// took more than one try, then the slowest one.
func worstFirst(a, b mad.TargetStats) int {
	return cmp.Or(cmp.Compare(b.TimedOut, a.TimedOut), cmp.Compare(b.Retried, a.Retried), cmp.Compare(b.MaxRTT, a.MaxRTT))
}

type targetRow struct {
	Target  string  `json:"target"`
	Sent    uint64  `json:"sent"`
	Again   uint64  `json:"again"`
	Answers uint64  `json:"answers"`
	Silent  uint64  `json:"no_answer"`
	Late    uint64  `json:"late"`
	Mean    float64 `json:"mean_seconds"`
	Longest float64 `json:"longest_seconds"`
	of      *mad.TargetStats
}

func (r targetRow) Cells() []any {
	return []any{r.Target, r.Sent, r.Again, r.Answers, r.Silent, r.Late, seconds(r.of.MeanRTT), seconds(r.of.MaxRTT)}
}

// showTargets lists whom the client asks, the worst to answer first.
func (c *call) showTargets() error {
	f := c.session.State().Live.Fabric
	stats := c.session.WireStats()
	targets := c.session.Targets()
	inorder.Sort(targets, worstFirst)
	var rows []targetRow
	for i := range targets {
		s := &targets[i]
		rows = append(rows, targetRow{targetName(f, &s.Target), s.Sent, s.Retried, s.Received, s.TimedOut, s.Late, s.MeanRTT.Seconds(), s.MaxRTT.Seconds(), s})
	}
	c.out.note("in all: %d sent, %d of them again, %d answers, %d without answer, %d late", stats.Sent, stats.Retried, stats.Received, stats.TimedOut, stats.Late)
	return c.list([]string{"TARGET", "SENT", "AGAIN", "ANSWERS", "NO ANSWER", "LATE", "MEAN", "LONGEST"}, eachRow(rows))
}
