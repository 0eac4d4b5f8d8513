// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func calibrateCommand() command {
	return command{lang.Spec{Name: "calibrate",
		Summary: "compute the live subnet's tables with the engine's settings and compare them with what the switches hold"}, runCalibrate}
}

type calibrateAnswer struct {
	Engine  string                         `json:"engine"`
	Entries int                            `json:"entries"`
	Differ  int                            `json:"differ"`
	Kinds   map[session.DifferenceKind]int `json:"kinds"`
	// Lanes are SL2VL tables, 0 where none were compared. Levels says that the live
	// paths have the computed service levels from now on.
	Lanes       int               `json:"lanes"`
	LanesDiffer int               `json:"lanes_differ"`
	Levels      bool              `json:"levels_taken"`
	Switches    []calibrateSwitch `json:"switches"`
	Warnings    []string          `json:"warnings,omitempty"`
}

type calibrateSwitch struct {
	Name    string `json:"name"`
	Differ  int    `json:"differ"`
	Entries int    `json:"entries"`
}

func runCalibrate(c *call) error {
	cal, err := c.session.Calibrate(c.ctx)
	if err != nil {
		return err
	}
	a := calibrateAnswer{cal.Engine, cal.Entries, cal.Differ, cal.Kinds, cal.SL2VLs, cal.SL2VLDiffer, cal.SLs, []calibrateSwitch{}, cal.Warnings}
	for _, sw := range cal.Switches {
		a.Switches = append(a.Switches, calibrateSwitch{sw.Name, sw.Differ, sw.Entries})
	}
	return c.out.answer(a, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s: %d of %s differ from what the switches hold", a.Engine, a.Differ, count(a.Entries, "entry"))
		if a.Lanes > 0 {
			_, _ = fmt.Fprintf(w, ", %d of %s", a.LanesDiffer, count(a.Lanes, "SL2VL table"))
		}
		if cal.Agrees() {
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
		list(w, "warning", a.Warnings)
	})
}
