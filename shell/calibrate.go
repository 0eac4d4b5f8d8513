// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/shell/session"
)

func calibrateCommand() Spec {
	return Spec{Name: "calibrate",
		Summary: "compute the live subnet's tables with the engine's settings and compare them with what the switches hold", Run: runCalibrate}
}

type calibrateAnswer struct {
	*session.Calibration
	Verdict verdict.Verdict `json:"verdict"`
	Proof   *session.Proof  `json:"as_subnet_manager,omitempty"`
}

// proofOf says whether the subnet manager would make the tables that the settings give, nil where there is none.
func proofOf(st *session.State) *session.Proof {
	p := st.Proof()
	if !p.Asked {
		return nil
	}
	return &p
}

// Warned are the warnings among it.
func (a calibrateAnswer) Warned() []string { return a.Warnings }

func (a calibrateAnswer) Text(w io.Writer) {
	list(w, "refused by", a.Refused)
	_, _ = fmt.Fprintf(w, "%s: %d of %s differ from what the switches hold", a.Engine, a.Differ, count(a.Entries, "entry"))
	if a.SL2VLs > 0 {
		_, _ = fmt.Fprintf(w, ", %d of %s", a.SL2VLDiffer, count(a.SL2VLs, "SL2VL table"))
	}
	switch {
	case a.Verdict == verdict.Unknown:
		_, _ = fmt.Fprintf(w, ": unknown whether what-ifs say what their subnet manager would do, as the tables of %s were not read\n", count(len(a.Unread), "switch"))
	case a.Agrees():
		_, _ = fmt.Fprintln(w, ": what-ifs say what their subnet manager would do")
	case a.Kept == session.KeptSeen:
		_, _ = fmt.Fprintln(w, ": these are routes that OpenSM kept when something was lost: what-ifs say what their subnet manager would do")
	case a.Explained():
		_, _ = fmt.Fprintln(w, ", each by a route that OpenSM keeps when something is lost: with these settings of its own what-ifs say what it would do")
	case a.Kept == session.KeptPossible:
		_, _ = fmt.Fprintln(w, ", each by a route that OpenSM keeps when something is lost: where these settings are its own (engine from=FILE) what-ifs are no estimates")
	default:
		_, _ = fmt.Fprintln(w, ": they were computed otherwise, and what-ifs are estimates")
	}
	for _, k := range []session.DifferenceKind{session.OtherPort, session.OtherNeighbour, session.OnlyLive, session.OnlyComputed} {
		if n := a.Kinds[k]; n > 0 {
			_, _ = fmt.Fprintf(w, "  %d: %s\n", n, k)
		}
	}
	var rows []string
	for _, sw := range a.Switches {
		rows = append(rows, fmt.Sprintf("%s: %d of %d", sw.Name, sw.Differ, sw.Entries))
	}
	list(w, "switch", rows)
	list(w, "not compared, as its table was not read", a.Unread)
	if a.Why != "" {
		_, _ = fmt.Fprintf(w, "  the computed service levels are not taken for those of the live paths: %s\n", a.Why)
	}
	if a.Proof != nil {
		_, _ = fmt.Fprintf(w, "  %s\n", a.Proof)
	}
	list(w, "warning", a.Warnings)
}

func runCalibrate(c *call) error {
	cal, err := c.session.Calibrate(c.ctx)
	if err != nil {
		return err
	}
	st := c.session.State()
	return c.out.Answer(calibrateAnswer{&cal, cal.Verdict(), proofOf(&st)})
}
