// SPDX-License-Identifier: Apache-2.0

// Package calibrate compares computed tables with those on the switches.
package calibrate

import (
	"fmt"
	"slices"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/calibration"
)

// Feature is the command calibrate.
var Feature = feature.Feature{Name: "calibrate", Commands: []feature.Command{{
	Path: "calibrate", Group: feature.GroupRoute, Summary: "Compare computed tables with those on the switches",
	Help: "calibrate computes the tables of the live subnet with the settings of engine, and stages nothing. If the " +
		"computed tables\ndiffer from those on the switches, the simulated routes are estimates. Routes that OpenSM " +
		"keeps when a link or switch is\nlost are exact in any case.",
	Examples: []string{
		"calibrate",
		"engine minhop; calibrate",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// calibrated compares computed tables with those on the switches.
type calibrated struct {
	Engine      string       `key:"engine"`
	Refused     []string     `key:"refused" help:"engines that refused before, with their reasons"`
	Entries     int          `key:"entries" help:"entries of forwarding tables that were compared"`
	Differ      int          `key:"differ" help:"entries that differ"`
	Kinds       answer.Value `key:"kinds" kind:"map" help:"entries that differ, by kind of difference"`
	SL2VLs      int          `key:"sl2vl" help:"SL2VL tables that were compared"`
	SL2VLDiffer int          `key:"sl2vl_differ" help:"SL2VL tables that differ"`
	SLs         bool         `key:"sls_taken" help:"live paths are assumed to have the computed service levels"`
	Why         answer.Value `key:"sls_not_taken" kind:"text" help:"why they are not"`
	Kept        answer.Value `key:"kept" kind:"text" help:"whether OpenSM may have kept the differing routes"`

	feature.Proof `prefix:""`

	Mappings   string   `name:"mappings"`
	Conclusion string   `name:"conclusion"`
	KindLines  []string `name:"kinds of differences"`
	verdict    answer.Verdict
	switches   []differing
}

// differing is a switch with entries that differ.
type differing struct {
	Switch  answer.Place `key:"switch" name:"SWITCH"`
	Differ  int          `key:"differ" name:"DIFFER" help:"entries that differ"`
	Entries int          `key:"entries" name:"ENTRIES" help:"entries that were compared"`
}

var switches = answer.Table[differing]{
	Key: "switches", Title: "switches that differ", Fields: answer.Fields[differing](),
	Row: "  switch: {switch}: {differ} of {entries}", MaxRows: 20,
	Lead: func(d differing) answer.Lead { return answer.Lead{GUID: d.Switch.GUID} },
}

var decl = answer.Decl[*calibrated]{
	Command: "calibrate", Help: "how the tables that the settings give agree with those on the switches",
	Facts: answer.Fields[*calibrated](),
	Layout: []answer.Item[*calibrated]{
		{Line: "{engine}: {differ} of {entries|entry} differ from those on the switches{mappings}{conclusion}"},
		{Line: "  refused by: {refused}", Each: "refused"},
		{Line: "  {kinds of differences}", Each: "kinds of differences"},
		{Table: answer.Show(&switches, func(c *calibrated) answer.Rows[differing] { return answer.Slice(c.switches) })},
		{Line: "{?sls_not_taken}  live paths are not assumed to have the computed service levels: {sls_not_taken}"},
		{Line: "{?proof}  {proof}"},
	},
	Verdict: func(c *calibrated) (answer.Verdict, string) {
		if c.verdict != answer.Found {
			return c.verdict, ""
		}
		found := fmt.Sprintf("%d of %s differ from those on the switches", c.Differ, prose.Count(c.Entries, "entry"))
		return c.verdict, found + c.Mappings
	},
	Fails: answer.Asked,
}

func run(c *feature.Call) error {
	cal, err := c.Session.Calibrate(c.Ctx)
	if err != nil {
		return err
	}
	st := c.Session.State()
	a := &calibrated{
		Engine: cal.Engine, Refused: cal.Refused, Entries: cal.Entries, Differ: cal.Differ, SL2VLs: cal.SL2VLs,
		SL2VLDiffer: cal.SL2VLDiffer, SLs: cal.SLs, Why: answer.Optional(cal.Why),
		Kept: answer.Optional(string(cal.Kept)), Proof: feature.ProofOf(&st), Conclusion: conclusion(&cal),
		verdict: cal.Verdict(),
	}
	if cal.SL2VLs > 0 {
		a.Mappings = fmt.Sprintf(", %d of %s", cal.SL2VLDiffer, prose.Count(cal.SL2VLs, "SL2VL table"))
	}
	var kinds []answer.Named
	for _, k := range []calibration.Kind{calibration.OtherPort, calibration.OtherNeighbour, calibration.OnlyLive,
		calibration.OnlyComputed} {
		if n := cal.Kinds[k]; n > 0 {
			kinds = append(kinds, answer.Named{Name: string(k), Value: answer.Int(n)})
			a.KindLines = append(a.KindLines, fmt.Sprintf("%d: %s", n, k))
		}
	}
	a.Kinds = answer.Map(kinds)
	f := st.Live.Fabric
	for _, sw := range cal.Switches {
		place, _ := answer.Node(f, f.NodeByGUID(sw.GUID)).Place()
		a.switches = append(a.switches, differing{place, sw.Differ, sw.Entries})
	}
	b := st.Basis(st.Live, session.NeedTables)
	b.Warnings = slices.Concat(b.Warnings, cal.Warnings)
	return c.Answer(decl.Answer(b, a))
}

// conclusion returns the end of a line that states whether predictions are proved.
func conclusion(c *calibration.Calibration) string {
	switch {
	case c.Verdict() == answer.Unknown:
		return fmt.Sprintf(": unknown whether what-ifs predict the subnet manager: the tables of %s were not read",
			prose.Count(len(c.Unread), "switch"))
	case c.Agrees():
		return ": what-ifs predict the subnet manager"
	case c.Kept == calibration.KeptSeen:
		return ": OpenSM kept these routes when links or switches were lost: what-ifs predict the subnet manager"
	case c.Explained():
		return ": OpenSM keeps such routes when links or switches are lost: with its own settings what-ifs predict " +
			"the subnet manager"
	case c.Kept == calibration.KeptPossible:
		return ": OpenSM keeps such routes when links or switches are lost: what-ifs are estimates unless these are " +
			"its settings (engine from=FILE)"
	}
	return ": the tables were computed in another way, what-ifs are estimates"
}
