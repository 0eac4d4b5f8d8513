// SPDX-License-Identifier: Apache-2.0

// Package handover writes the files that make OpenSM compute the routes of a state.
package handover

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/settings"
)

// Feature is the command handover.
var Feature = feature.Feature{Name: "handover", Commands: []feature.Command{{
	Path: "handover", Group: feature.GroupWrite, Summary: "Write files with which OpenSM reproduces these routes",
	Help: "handover writes a new directory with the tables, the LIDs and lines for opensm.conf. If paths need " +
		"service levels, the\nlines name the engine and its options, because OpenSM cannot read service levels from " +
		"a file.",
	Args: []lang.Arg{{Name: "DIR", Kind: lang.KindFile, Written: true}}, Options: []lang.Option{feature.OfOption()},
	Examples: []string{
		"handover opensm-files of=live",
		"fail link leaf-01 36; route; handover opensm-files",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// The files of a handover.
const (
	lftsFile  = "lfts"
	guidsFile = "guid2lid"
	confFile  = "opensm.conf"
	torusFile = "torus-2QoS.conf"
)

// written is the answer about the directory that was written.
type written struct {
	Dir  string   `key:"dir"`
	Conf []string `key:"conf" help:"the lines of opensm.conf"`

	feature.Proof `prefix:""`
}

var decl = answer.Decl[written]{
	Command: "handover", Help: "the directory that was written, and the lines of opensm.conf",
	Title: "{of} handed over in {dir}:", Action: true,
	Facts: answer.Fields[written](),
	Layout: []answer.Item[written]{
		{Line: "  " + lftsFile + "  the tables"},
		{Line: "  " + guidsFile + "  the LIDs; copy it to OpenSM's cache directory (/var/cache/opensm) before " +
			"it starts"},
		{Line: "  " + confFile + "  lines for opensm.conf:"},
		{Line: "    {conf}", Each: "conf"},
		{Line: "{?proof}  {proof}"},
	},
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Arg(0))
	if err != nil {
		return err
	}
	if err := checkLevels(p); err != nil {
		return err
	}
	texts := map[string][]byte{}
	conf := confLines(st, p, dir)
	if t, ok := torus.Of(p.Tables); ok && !isGiven(st, "torus_config") {
		var b bytes.Buffer
		if err := osm.WriteTorusConf(&b, t.Config()); err != nil {
			return fmt.Errorf("the configuration of %v: %w", t, err)
		}
		texts[torusFile] = b.Bytes()
		conf = append(conf, "torus_config "+filepath.Join(dir, torusFile))
	}
	texts[confFile] = []byte(strings.Join(conf, "\n") + "\n")
	a := written{dir, conf, feature.ProofOf(st)}
	b := st.Basis(p, session.NeedLinks|session.NeedTables|session.NeedFile)
	more, err := warnings(c, st, p, &a.Proof)
	if err != nil {
		return err
	}
	b.Warnings = slices.Concat(b.Warnings, more)
	for name, kind := range map[string]string{lftsFile: "lfts", guidsFile: "guid2lid"} {
		var b bytes.Buffer
		if _, err := dumps.Write(c.Ctx, c.Session, kind, session.Kind(c.Option("of", "")), &b); err != nil {
			return err
		}
		texts[name] = b.Bytes()
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return files.Err(err)
	}
	for name, text := range texts {
		if err := files.Write(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}); err != nil {
			return err
		}
	}
	return c.Answer(decl.Answer(b, a))
}

// checkLevels returns an error if the routes need service levels that OpenSM does not compute.
func checkLevels(p *session.Picture) error {
	if p.Tables.Origin == "dor" && p.Tables.SLs != nil {
		return errors.New("OpenSM's dor has no service levels, so these routes would have credit loops; hint: " +
			"run 'engine dfsssp' or 'engine lash'")
	}
	if t, ok := torus.Of(p.Tables); ok && t.Beyond() != "" {
		return fmt.Errorf("OpenSM's torus-2QoS refuses this torus: %s", t.Beyond())
	}
	return nil
}

// isGiven reports whether the user set an engine option.
func isGiven(st *session.State, name string) bool {
	return slices.ContainsFunc(st.Settings.Given, func(g settings.Setting) bool { return g.Name == name })
}

// warnings reports paths that do not arrive, and reasons why OpenSM may compute other routes.
func warnings(c *feature.Call, st *session.State, p *session.Picture, proof *feature.Proof) ([]string, error) {
	var all []string
	res, err := c.Session.Analysis().Reach(c.Ctx, p.Tables, reach.Options{})
	if err != nil {
		return nil, err
	}
	if lost := res.Bad(); lost > 0 {
		all = append(all, fmt.Sprintf("%s of %s do not arrive by these tables; hint: run 'check reach'",
			prose.Thousands(lost), prose.Count(res.Paths, "path")))
	}
	if res.Unknown > 0 {
		all = append(all, feature.UnknownPathsText(res.Unknown, res.Paths)+"; hint: run 'check reach'")
	}
	if needsVLs(p) && len(st.Failures) > 0 {
		all = append(all, "OpenSM computes these routes itself, for the real subnet without simulated failures")
	}
	if needsVLs(p) && proof.IsUnproved() {
		all = append(all, "OpenSM computes these routes itself; it is unproved that they are the same: "+proof.Why())
	}
	if what := st.Added(); what != "" {
		all = append(all, "these routes are for a simulated subnet: "+what)
	}
	return all, nil
}

// needsVLs reports whether the routes need service levels or VLs. OpenSM cannot read these from a file.
func needsVLs(p *session.Picture) bool { return p.Tables.SLs != nil || p.Tables.SL2VL != nil }

// omitted are the options that confLines skips: opensm.conf does not have them, or handover sets them itself.
var omitted = []string{"bull", "bull_min_hop", "bull_secondary", "exact", "guid2lid", "strict", "vls", "qos", "lmc",
	"reassign_lids", "honor_guid2lid_file"}

// confLines returns the lines of opensm.conf that make OpenSM compute the routes of a state.
func confLines(st *session.State, p *session.Picture, dir string) (lines []string) {
	line := func(name, value string) { lines = append(lines, name+" "+value) }
	if needsVLs(p) {
		lines = append(lines, "# The routing needs service levels. OpenSM computes them; it does not read them from "+
			"a file.")
		engine, given, ok := p.RoutedWith()
		if !ok {
			engine, given = st.Settings.String(), st.Settings.Given
		}
		line("routing_engine", engine)
		qos := "TRUE"
		for _, g := range given {
			if g.Name == "qos" {
				qos = g.Conf()
			}
			if !slices.Contains(omitted, g.Name) {
				line(g.Name, g.Conf())
			}
		}
		line("qos", qos)
	} else {
		line("routing_engine", "file")
		line("lfts_file", filepath.Join(dir, lftsFile))
	}
	line("lmc", fmt.Sprint(p.Fabric.MaxLMC()))
	line("reassign_lids", "FALSE")
	line("honor_guid2lid_file", "TRUE")
	return lines
}
