// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"time"
)

const incrementalWord = "incremental"

type incrementalAnswer struct {
	Engine    string   `json:"engine"`
	Seconds   float64  `json:"seconds"`
	Touched   int      `json:"changed"`
	Switches  int      `json:"switches"`
	Looked    int      `json:"looked_at"`
	LIDs      int      `json:"lids"`
	Entries   int      `json:"full_route_entries"`
	Against   string   `json:"against"`
	Full      *int     `json:"full_route_changes,omitempty"`
	Lost      int      `json:"without_a_path"`
	Unreached []string `json:"examples,omitempty"`
	Changes   []string `json:"changes,omitempty"`
	warnings
	// Loop says that there is a credit loop that was not there before; absent where nobody knows.
	Loop   *bool `json:"new_credit_loop,omitempty"`
	took   time.Duration
	fullBy string // the engine of a full route
}

func runRouteIncremental(c *call) error {
	res, err := c.session.RouteIncremental(c.ctx, c.Option("beside", "no") == "yes")
	if err != nil {
		return err
	}
	rep, did := res.Adapted, res.Figures
	a := incrementalAnswer{
		Engine: incrementalWord, Seconds: did.Took.Seconds(), Touched: rep.Touched, Switches: rep.Switches, Looked: rep.Looked, LIDs: rep.LIDs, Entries: rep.Entries,
		Against: did.Against, Lost: rep.Lost, Unreached: rep.Unreached, Changes: rep.Changes, warnings: warnings{did.Warnings}, Loop: rep.Loop, took: did.Took, fullBy: rep.Engine,
	}
	if rep.Beside >= 0 {
		a.Full = &rep.Beside
	}
	return c.out.Answer(&a)
}

func (a *incrementalAnswer) Text(w io.Writer) {
	list(w, "changed", a.Changes)
	_, _ = fmt.Fprintf(w, "adapted %s in %s: %s on %s touched, of %d that a full route computes", a.Against, seconds(a.took), count(a.Touched, "entry"), count(a.Switches, "switch"), a.Entries)
	if a.Full != nil {
		_, _ = fmt.Fprintf(w, "; one by %s would change %d", a.fullBy, *a.Full)
	}
	_, _ = fmt.Fprint(w, "; staged, not written\n")
	if a.Lost > 0 {
		_, _ = fmt.Fprintf(w, "  %s without a path, left as they are:\n", count(a.Lost, "entry"))
		for _, e := range a.Unreached {
			_, _ = fmt.Fprintf(w, "    %s\n", e)
		}
	}
	list(w, "warning", a.Warnings)
}
