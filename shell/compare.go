// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func compareCommands() []Spec {
	return []Spec{{Name: "compare", Summary: "things side by side", Subcommands: []Spec{
		{Name: "engines", Summary: "route with each engine and measure the tables, beside those on the switches; nothing is staged", Run: runCompare,
			Help: "WORST is the edge forwarding index, SHIFT the shift figure, BISECTION the effective bisection bandwidth as a part of the full\n" +
				"one (see check load), HOPS the most links of a path and the mean, CHANGED the entries that are others than on the\n" +
				"switches, of those that were read, LOST the pairs of end ports of which a path does not\n" +
				"arrive; those of which a path is unknown, over tables that were not read, count by themselves. VLS and CREDIT LOOP of the switches are unknown where they depend on service\n" +
				"levels or VLs that were not read (try: calibrate; sweep full sl2vl).",
			Args: []lang.Arg{{Name: "ENGINE", Kind: lang.KindEngine, Optional: true, Repeat: true}},
			Options: []lang.Option{{Name: "with", Kind: lang.KindFile, Value: "FILE|ID|PICTURE", List: true,
				Summary: "tables to measure too: a file with routes, the number of a history entry, staged, ..."}}},
	}}}
}

type engineRow struct {
	leads
	Name      string   `json:"name"`
	Refused   string   `json:"refused,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"`
	Allocated int64    `json:"allocated_bytes,omitempty"`
	Worst     int64    `json:"worst_load"`
	Shift     *int64   `json:"shift_figure,omitempty"`
	Bisection *float64 `json:"effective_bisection,omitempty"`
	MaxHops   int      `json:"max_hops"`
	MeanHops  float64  `json:"mean_hops"`
	Pairs     int64    `json:"pairs"`
	LostPairs int64    `json:"lost_pairs"`
	LuckPairs int64    `json:"luck_pairs,omitempty"` // by adaptive routing
	Unknown   int64    `json:"unknown_pairs"`
	Lost      int64    `json:"lost_paths"`
	// UnknownPaths are over tables that were not read; the other figures leave them out.
	UnknownPaths int64           `json:"unknown_paths"`
	Paths        int64           `json:"paths"`
	VLs          *int            `json:"vls"` // null where nobody knows
	Loop         credits.Verdict `json:"credit_loop"`
	Changed      *int            `json:"changed_entries,omitempty"`
	Unread       int             `json:"unread,omitempty"`
	measures
	computed bool
	took     time.Duration
}

// loopWord is a verdict that is to be seen: "no", "YES" or "unknown".
func loopWord(v credits.Verdict) string {
	if v == credits.Loop {
		return "YES"
	}
	return v.String()
}

func runCompare(c *call) error {
	var with []string
	if list := c.Option("with", ""); list != "" {
		with = strings.Split(list, ",")
	}
	var refused refusedEngines
	var loads comparedLoads
	var best *BestRow
	at := 0
	var stopped error
	columns := []string{"ENGINE", "TIME", "ALLOCATED", "WORST", "SHIFT", "BISECTION", "HOPS", "VLS", "CREDIT LOOP", "CHANGED", "LOST"}
	err := c.list(columns, func(yield func(Row, error) bool) {
		err := c.session.CompareEngines(c.ctx, c.Args, with, func(e session.EngineFigures) error {
			if e.Refused != "" {
				refused = append(refused, fmt.Sprintf("%s does not route this subnet: %s", e.Name, e.Refused))
			}
			loads.add(&e)
			r := engineRowOf(&e)
			if r.Cells() != nil {
				if best.beatenBy(r) {
					best = &BestRow{Row: at, engine: r}
				}
				at++
			}
			if !yield(r, nil) {
				return errStopped
			}
			return nil
		})
		switch {
		case err == nil, errors.Is(err, errStopped):
		case c.ctx.Err() != nil: // it shows what it has
			stopped = err
		default:
			yield(nil, err)
		}
	})
	if err != nil {
		return err
	}
	if err := c.out.Answer(Part{refused}); err != nil {
		return err
	}
	if best != nil && at > 1 && stopped == nil {
		if err := c.out.Answer(Part{best}); err != nil {
			return err
		}
	}
	if err := c.out.Answer(Part{loads}); err != nil {
		return err
	}
	return stopped
}

// BestRow says which row of the list before it is the best.
type BestRow struct {
	Row    int
	engine *engineRow
}

// Text says why: it loses fewest pairs, has no credit loop as far as that is known, and the least load.
func (b *BestRow) Text(w io.Writer) {
	loop := [...]string{
		credits.None: " and have no credit loop", credits.Loop: ", all with a credit loop,", credits.Unknown: ", of none of which it is known that it has no credit loop,",
	}[b.engine.Loop]
	_, _ = fmt.Fprintf(w, "best: %s (engine %s; route): of those that lose fewest pairs%s it has the lowest WORST, then the best BISECTION\n",
		b.engine.Name, b.engine.Name, loop)
}

// beatenBy reports whether an engine that was computed is better than the best so far.
func (b *BestRow) beatenBy(r *engineRow) bool {
	if !r.computed || b == nil {
		return r.computed
	}
	bisection := func(r *engineRow) float64 {
		if r.Bisection == nil {
			return 0
		}
		return *r.Bisection
	}
	loop := func(r *engineRow) int {
		return slices.Index([]credits.Verdict{credits.None, credits.Unknown, credits.Loop}, r.Loop)
	}
	x := b.engine
	return cmp.Or(cmp.Compare(r.LostPairs+r.LuckPairs, x.LostPairs+x.LuckPairs), cmp.Compare(r.Unknown, x.Unknown), cmp.Compare(loop(r), loop(x)), cmp.Compare(r.Worst, x.Worst), cmp.Compare(bisection(x), bisection(r)),
		cmp.Compare(r.MeanHops, x.MeanHops)) < 0
}

var errStopped = errors.New("stopped") // ends a comparison that nobody listens to

// refusedEngines say why engines do not route.
type refusedEngines []string

func (r refusedEngines) Text(w io.Writer) {
	for _, line := range r {
		_, _ = fmt.Fprintln(w, line)
	}
}

func engineRowOf(e *session.EngineFigures) *engineRow {
	r := &engineRow{
		Name: e.Name, Refused: e.Refused, Seconds: e.Took.Seconds(), Allocated: e.Allocated, Worst: e.Worst, MaxHops: e.MaxHops, MeanHops: e.MeanHops,
		Pairs: e.Pairs.Pairs, LostPairs: e.Lost, LuckPairs: e.Luck, Unknown: e.Pairs.Unknown, Lost: e.Bad, UnknownPaths: e.UnknownPaths, Paths: e.Paths, Loop: e.Loop, measures: measures(e.Quick), computed: e.Computed, took: e.Took,
	}
	if e.Computed {
		r.to = toCommand("engine %s", e.Name)
	}
	if e.Shifts != nil {
		r.Shift, r.Bisection = &e.Shifts.Worst, &e.Bisections.Mean
	}
	if e.VLs > 0 || e.Refused != "" {
		r.VLs = &e.VLs
	}
	if e.Changed >= 0 && e.Refused == "" {
		r.Changed, r.Unread = &e.Changed, e.Unread
	}
	return r
}

func (r *engineRow) Cells() []any {
	if r.Refused != "" {
		return nil
	}
	took, allocated, shift, bisection, changed, vls := "-", "-", "-", "-", "-", "unknown"
	if r.computed {
		took, allocated = r.took.Round(time.Millisecond/10).String(), fmt.Sprintf("%.1f MB", float64(r.Allocated)/1e6)
	}
	if r.Shift != nil {
		shift, bisection = fmt.Sprint(*r.Shift), fmt.Sprintf("%.3f", *r.Bisection)
	}
	if r.Changed != nil {
		changed = fmt.Sprint(*r.Changed)
	}
	if r.Unread > 0 {
		changed += fmt.Sprintf(" (%d unread)", r.Unread)
	}
	lost := fmt.Sprint(r.LostPairs)
	if r.LuckPairs > 0 {
		lost += fmt.Sprintf(" (%d by luck)", r.LuckPairs)
	}
	if r.Unknown > 0 {
		lost += fmt.Sprintf(" (%d unknown)", r.Unknown)
	}
	if r.VLs != nil {
		vls = fmt.Sprint(*r.VLs)
	}
	return []any{r.Name, took, allocated, r.Worst, shift, bisection, fmt.Sprintf("%d (%.2f)", r.MaxHops, r.MeanHops), vls, loopWord(r.Loop), changed, lost}
}
