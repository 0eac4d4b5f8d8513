// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"
	"fmt"

	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// Failover counts how failures affect pairs of end ports with adaptive routing, before a subnet manager reacts. It is
// nil if no switch routes adaptively.
type Failover struct {
	Pairs     int64 `key:"pairs" help:"pairs of end ports; the counts are for the time before a subnet manager acts"`
	Untouched int64 `key:"pairs_untouched" help:"pairs that keep all their paths"`
	Over      int64 `key:"pairs_failing_over" help:"pairs that fail over at once"`
	Luck      int64 `key:"pairs_by_luck" help:"pairs that lose packets by some choices"`
	Stuck     int64 `key:"pairs_stuck" help:"pairs that lose all packets"`
	CutOff    int64 `key:"pairs_unreachable" help:"pairs with an unreachable end port"`
	Bad       int64 `key:"pairs_bad_before" help:"pairs that did not arrive for sure before"`
	examples  []choices.Pair
	p         *session.Picture
}

// WaitingPair is a pair that loses packets until a subnet manager computes new routes.
type WaitingPair struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	LID   uint16       `key:"lid" name:"LID" kind:"lid"`
	Reach string       `key:"now_reached" name:"NOW REACHED" help:"by luck: by some choices; never: by none"`
	Share string       `name:"OF PACKETS" help:"share of packets that arrive if all choices are equally likely"`
	Part  float64      `key:"share" help:"share of packets that arrive if all choices are equally likely"`
	answer.Lead
}

var waitingTable = answer.Table[WaitingPair]{
	Key: "waiting_pairs", Title: "pairs that wait for a manager", Stream: true, Fields: answer.Fields[WaitingPair](),
}

// Failover compares the paths in the base and in the what-if over all choices of adaptive routing. It returns nil if no
// switch of the base routes adaptively, or if the what-if adds nodes.
func (c *Call) Failover(st *session.State) (*Failover, error) {
	if st.Base == nil || st.WhatIf == nil || st.Base.Tables == nil || st.WhatIf.Tables == nil ||
		st.Base.Tables.Adaptive == nil {
		return nil, nil
	}
	r, err := c.Session.Analysis().FailOver(c.Ctx, st.Base.Tables, st.WhatIf.Tables,
		choices.Options{Examples: MaxExamples})
	switch {
	case errors.Is(err, choices.ErrOtherNodes):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &Failover{r.Paths, r.Untouched, r.Over, r.Luck, r.Stuck, r.Unreachable, r.Bad, r.Examples, st.WhatIf}, nil
}

// FailoverItems returns the lines and the table of a [Failover]. The facts must have the given prefix.
func FailoverItems[T any](prefix string, of func(T) *Failover) []answer.Item[T] {
	var items []answer.Item[T]
	for _, line := range []string{
		"{?pairs}before a subnet manager acts, by adaptive routing: of {pairs|pair} {pairs_untouched} keep all their " +
			"paths, {pairs_failing_over} fail over at once",
		"{?pairs}  {pairs_by_luck} lose packets by some choices, {pairs_stuck} are stuck, {pairs_unreachable} have " +
			"an end port that is unreachable[; {pairs_bad_before} did not arrive for sure before]",
	} {
		items = append(items, answer.Item[T]{Line: answer.Prefixed(prefix, line)})
	}
	return append(items,
		answer.Item[T]{When: answer.Hidden[T], Table: answer.Show(&waitingTable, func(v T) answer.Rows[WaitingPair] {
			return of(v).waiting()
		})})
}

func (o *Failover) waiting() answer.Rows[WaitingPair] {
	if o == nil {
		return answer.Rows[WaitingPair]{}
	}
	f := o.p.Fabric
	rows := answer.Lazy(len(o.examples), func(i int) WaitingPair {
		p := &o.examples[i]
		return WaitingPair{
			answer.Port(f, p.Src), answer.Port(f, p.Dst), p.LID, p.Outcome.Endings.Reach().String(),
			fmt.Sprintf("%.0f %%", 100*p.Outcome.Share),
			p.Outcome.Share, ToTrace(o.p, p.Src, p.Dst, p.LID),
		}
	})
	rows.More = o.Luck + o.Stuck - int64(rows.N)
	return rows
}
