// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func compareCommands() []command {
	return []command{{lang.Spec{Name: "compare", Summary: "things side by side", Subcommands: []lang.Spec{
		{Name: "engines", Summary: "route with each engine and measure the tables, beside those on the switches; nothing is staged",
			Help: "WORST is the edge forwarding index, SHIFT the shift figure, BISECTION the effective bisection bandwidth as a part of the full\n" +
				"one (see check load), HOPS the switches that paths pass, CHANGED the entries that are others than on the\n" +
				"switches, of those that were read. LANES and CREDIT LOOP of the switches are unknown where they depend on service\n" +
				"levels or lanes that were not read (try: calibrate; sweep full sl2vl).",
			Args: []lang.Arg{{Name: "ENGINE", Kind: lang.KindEngine, Optional: true, Repeat: true}},
			Options: []lang.Option{{Name: "with", Kind: lang.KindFile, Value: "FILE|ID|PICTURE", List: true,
				Summary: "tables to measure too: a file with routes, the number of a history entry, staged, ..."}}},
	}}, runCompare}}
}

type engineRow struct {
	Name      string   `json:"name"`
	Refused   string   `json:"refused,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"`
	Memory    int64    `json:"memory_bytes,omitempty"`
	Worst     int64    `json:"worst_load"`
	Shift     *int64   `json:"shift_figure,omitempty"`
	Bisection *float64 `json:"effective_bisection,omitempty"`
	MaxHops   int      `json:"max_hops"`
	MeanHops  float64  `json:"mean_hops"`
	Lost      int64    `json:"lost_paths"`
	Paths     int64    `json:"paths"`
	// Lanes are null where nobody knows.
	Lanes   *int            `json:"lanes"`
	Loop    credits.Verdict `json:"credit_loop"`
	Changed *int            `json:"changed_entries,omitempty"`
	Unread  int             `json:"unread,omitempty"`
	measures
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
	t := c.table("ENGINE", "TIME", "MEMORY", "WORST", "SHIFT", "BISECTION", "HOPS", "LANES", "CREDIT LOOP", "CHANGED", "LOST")
	var refused []string
	err := c.session.CompareEngines(c.ctx, c.Args, with, func(e session.EngineFigures) error {
		r := engineRowOf(&e)
		if e.Refused != "" {
			refused = append(refused, fmt.Sprintf("%s does not route this subnet: %s", e.Name, e.Refused))
			if !c.out.JSON {
				return nil
			}
		}
		return t.row(r, r.cells(&e)...)
	})
	if err != nil && c.ctx.Err() == nil {
		return err
	}
	// Stopped, it says what it has.
	if err := t.flush(); err != nil {
		return err
	}
	if !c.out.JSON {
		for _, line := range refused {
			if _, err := fmt.Fprintln(c.out.W, line); err != nil {
				return err
			}
		}
	}
	return err
}

func engineRowOf(e *session.EngineFigures) engineRow {
	r := engineRow{
		Name: e.Name, Refused: e.Refused, Seconds: e.Took.Seconds(), Memory: e.Memory, Worst: e.Worst, MaxHops: e.MaxHops, MeanHops: e.MeanHops,
		Lost: e.Lost, Paths: e.Paths, Loop: e.Loop, measures: measures(e.Quick),
	}
	if e.Shifts != nil {
		r.Shift, r.Bisection = &e.Shifts.Worst, &e.Bisections.Mean
	}
	if e.VLs > 0 || e.Refused != "" {
		r.Lanes = &e.VLs
	}
	if e.Changed >= 0 && e.Refused == "" {
		r.Changed, r.Unread = &e.Changed, e.Unread
	}
	return r
}

func (r *engineRow) cells(e *session.EngineFigures) []any {
	took, memory, shift, bisection, changed, lanes := "-", "-", "-", "-", "-", "unknown"
	if e.Computed {
		took, memory = e.Took.Round(time.Millisecond/10).String(), fmt.Sprintf("%.1f MB", float64(e.Memory)/1e6)
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
	if r.Lanes != nil {
		lanes = fmt.Sprint(*r.Lanes)
	}
	return []any{r.Name, took, memory, r.Worst, shift, bisection, fmt.Sprintf("%d (%.2f)", r.MaxHops, r.MeanHops), lanes, loopWord(r.Loop), changed, r.Lost}
}
