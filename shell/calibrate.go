// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/shell/session"
)

func calibrateCommand() Spec {
	return Spec{Name: "calibrate",
		Summary: "compute the live subnet's tables with the engine's settings and compare them with what the switches hold", Run: runCalibrate}
}

type calibrateAnswer struct{ *session.Calibration }

// Warned are the warnings among it.
func (a calibrateAnswer) Warned() []string { return a.Warnings }

func (a calibrateAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s: %d of %s differ from what the switches hold", a.Engine, a.Differ, count(a.Entries, "entry"))
	if a.SL2VLs > 0 {
		_, _ = fmt.Fprintf(w, ", %d of %s", a.SL2VLDiffer, count(a.SL2VLs, "SL2VL table"))
	}
	if a.Agrees() {
		_, _ = fmt.Fprintln(w, ": what-ifs say what their subnet manager would do")
	} else {
		_, _ = fmt.Fprintln(w, ": what-ifs are estimates")
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
	if a.Why != "" {
		_, _ = fmt.Fprintf(w, "  the computed service levels are not taken for those of the live paths: %s\n", a.Why)
	}
	list(w, "warning", a.Warnings)
}

func runCalibrate(c *call) error {
	cal, err := c.session.Calibrate(c.ctx)
	if err != nil {
		return err
	}
	return c.out.Answer(calibrateAnswer{&cal})
}
