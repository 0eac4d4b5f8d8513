// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/settings"
)

func handoverCommands() []Spec {
	return []Spec{{
		Name: "handover", Summary: "write what a master OpenSM needs to route the subnet so: the way beside a subnet manager",
		Help: "Writes a new directory with the tables, the LIDs and the lines of opensm.conf. A routing that needs service levels is\n" +
			"handed over by its engine and options, for OpenSM takes no SLs from a file.",
		Args: []lang.Arg{{Name: "DIR", Kind: lang.KindFile}}, Options: []lang.Option{feature.OfOption()},
		Run: onTables(runHandover),
	}}
}

// notHandedOn are options that opensm.conf does not have, or that a handover says itself.
var notHandedOn = []string{"bull", "bull_min_hop", "bull_secondary", "exact", "guid2lid", "strict", "vls", "qos", "lmc", "reassign_lids", "honor_guid2lid_file"}

// The files of a handover.
const (
	handoverLFTs  = "lfts"
	handoverGUIDs = "guid2lid"
	handoverConf  = "opensm.conf"
	handoverTorus = "torus-2QoS.conf"
)

func runHandover(c *call, st *session.State, p *session.Picture) error {
	dir, err := filepath.Abs(c.Arg(0))
	if err != nil {
		return err
	}
	if err := onlyHere(p); err != nil {
		return err
	}
	texts := map[string][]byte{}
	conf := handoverLines(st, p, dir)
	if t, ok := torus.Of(p.Tables); ok && !given(st, "torus_config") {
		var b bytes.Buffer
		if err := torus.WriteConfig(&b, t.Config()); err != nil {
			return fmt.Errorf("the configuration of %v: %w", t, err)
		}
		texts[handoverTorus] = b.Bytes()
		conf += fmt.Sprintf("torus_config %s\n", filepath.Join(dir, handoverTorus))
	}
	texts[handoverConf] = []byte(conf)
	c.noteFile()
	if err := c.warnOfLost(p); err != nil {
		return err
	}
	if needsVLs(p) && len(st.Failures) > 0 {
		c.out.warn("OpenSM computes these routes itself, for the subnet that it finds: what has failed only on paper has not failed for it")
	}
	proof := proofOf(st)
	if proof != nil && !proof.Proved && needsVLs(p) {
		c.out.warn("OpenSM computes these routes itself, and that it comes to the same is unproved here: %s", proof.Why)
	}
	if what := st.Added(); what != "" {
		c.out.warn("these routes are for a subnet that is so only on paper: %s", what)
	}
	for name, kind := range map[string]string{handoverLFTs: "lfts", handoverGUIDs: "guid2lid"} {
		var b bytes.Buffer
		if _, err := dumps.Write(c.ctx, c.session, kind, session.Kind(c.Option("of", "")), &b); err != nil {
			return err
		}
		texts[name] = b.Bytes()
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return files.Err(err)
	}
	for name, text := range texts {
		if err := files.Write(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return c.out.Answer(handedOver{dir, st.Title(p), st.IsStale(p), strings.Split(strings.TrimSpace(conf), "\n"), proof})
}

type handedOver struct {
	Dir   string         `json:"dir"`
	Of    string         `json:"of"`
	Stale bool           `json:"stale,omitempty"`
	Conf  []string       `json:"conf"`
	Proof *session.Proof `json:"as_subnet_manager,omitempty"`
}

func (a handedOver) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s handed over in %s:\n", a.Of, quoteFile(a.Dir))
	_, _ = fmt.Fprintf(w, "  %s  the tables\n  %s  the LIDs; copy it to OpenSM's cache directory (/var/cache/opensm) before it starts\n  %s  lines for opensm.conf:\n",
		handoverLFTs, handoverGUIDs, handoverConf)
	for _, line := range a.Conf {
		_, _ = fmt.Fprintf(w, "    %s\n", line)
	}
	if a.Proof != nil {
		_, _ = fmt.Fprintf(w, "  %s\n", a.Proof)
	}
}

// onlyHere refuses a routing with service levels that OpenSM does not compute.
func onlyHere(p *session.Picture) error {
	if p.Tables.Origin == "dor" && p.Tables.SLs != nil {
		return errors.New("OpenSM's dor gives no service levels: these routes would have credit loops there (dfsssp and lash give some)")
	}
	if t, ok := torus.Of(p.Tables); ok && t.Beyond() != "" {
		return fmt.Errorf("OpenSM's torus-2QoS refuses this torus: %s", t.Beyond())
	}
	return nil
}

// given reports whether an option of the engine was set.
func given(st *session.State, name string) bool {
	return slices.ContainsFunc(st.Settings.Given, func(g settings.Setting) bool { return g.Name == name })
}

// warnOfLost says beside the answer that tables leave pairs without a path.
func (c *call) warnOfLost(p *session.Picture) error {
	res, err := c.session.Analysis().Reach(c.ctx, p.Tables, reach.Options{})
	if err != nil {
		return err
	}
	if lost := res.Bad(); lost > 0 {
		c.out.warn("%d of %d paths do not arrive by these tables (check reach lists them)", lost, res.Paths)
	}
	if res.Unknown > 0 {
		c.out.warn("%s (check reach lists them)", feature.UnknownPaths(res.Unknown, res.Paths))
	}
	return nil
}

// needsVLs reports whether a routing takes service levels or VLs, which OpenSM takes from no
// file.
func needsVLs(p *session.Picture) bool { return p.Tables.SLs != nil || p.Tables.SL2VL != nil }

// handoverLines are the lines of opensm.conf that make OpenSM route as a picture
// does.
func handoverLines(st *session.State, p *session.Picture, dir string) string {
	var b strings.Builder
	line := func(name, value string) { _, _ = fmt.Fprintf(&b, "%s %s\n", name, value) }
	if needsVLs(p) {
		_, _ = fmt.Fprintf(&b, "# The routing needs service levels, which OpenSM takes from no file: it computes them.\n")
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
			if !slices.Contains(notHandedOn, g.Name) {
				line(g.Name, g.Conf())
			}
		}
		line("qos", qos)
	} else {
		line("routing_engine", "file")
		line("lfts_file", filepath.Join(dir, handoverLFTs))
	}
	line("lmc", fmt.Sprint(p.Fabric.MaxLMC()))
	line("reassign_lids", "FALSE")
	line("honor_guid2lid_file", "TRUE")
	return b.String()
}

// proofOf says whether the subnet manager would make the tables that the settings give, nil where there is none.
func proofOf(st *session.State) *session.Proof {
	p := st.Proof()
	if !p.Asked {
		return nil
	}
	return &p
}
