// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/engines/ftree"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/routing/engines/updn"
)

// GroupKind is the kind of adaptive-routing groups that a subnet manager assigns.
type GroupKind uint8

// The kinds of groups.
const (
	NoGroups   GroupKind = iota
	TreeGroups           // all ports of fewest hops by up/down routing
	LinkGroups           // all ports to the same next switch
)

// vendorEngine is an engine of NVIDIA's OpenSM. The field tables is the name of the engine that is assumed to compute
// the same tables.
type vendorEngine struct {
	name, tables string
	groups       GroupKind
	about        string
}

const (
	treeGroups = "groups of all ports on fewest-hop up/down paths"
	linkGroups = "groups of all ports to the same next switch"

	// VendorDefault is the default engine of NVIDIA's OpenSM, since version 5.10.
	VendorDefault = "ar_updn"
	autoEngine    = "auto"
)

var vendorEngines = []vendorEngine{
	{VendorDefault, updn.Engine{}.Name(), TreeGroups, treeGroups},
	{"ar_ftree", ftree.Engine{}.Name(), TreeGroups, treeGroups},
	{"ar_minhop", minhop.Engine{}.Name(), NoGroups, "no groups: its groups are not published"},
	{"ar_dor", minhop.DOR{}.Name(), LinkGroups, linkGroups},
	{"ar_torus", torus.Name, LinkGroups, linkGroups},
}

// unmodelledEngines are the other engines that the documents of NVIDIA's OpenSM name.
var unmodelledEngines = []string{"pqft", "chain", "dfp", "dfp2", "kdor-hc", "kdor-ghc"}

func findVendorEngine(name string) *vendorEngine {
	i := slices.IndexFunc(vendorEngines, func(e vendorEngine) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return &vendorEngines[i]
}

// ownChain replaces each engine of NVIDIA's OpenSM by the engine that is assumed to compute the same tables. It keeps
// the kind of port groups of each engine, and adds a note about the assumption.
func (s *Settings) ownChain() {
	s.groups = map[string]GroupKind{}
	var chain []string
	vendors := false
	for _, name := range s.Chain {
		groups := NoGroups
		if e := findVendorEngine(name); e != nil {
			s.Notes = append(s.Notes,
				fmt.Sprintf("%s: taken for %s by its name, with %s; unproved until calibrate agrees", name,
					e.tables, e.about))
			name, groups = e.tables, e.groups
			vendors = true
		}
		if !slices.Contains(chain, name) {
			chain = append(chain, name)
			s.groups[name] = groups
		}
	}
	s.Chain = chain
	if vendors {
		s.noteRootRanks()
	}
}

// noteRootRanks adds a note if roots have different ranks, which NVIDIA's OpenSM supports since version 5.23.
func (s *Settings) noteRootRanks() {
	for _, u := range s.guids {
		if u.kind != osm.RootGUIDs {
			continue
		}
		ranks := map[uint64]bool{}
		for i := range u.file.Lines {
			rank, _, _ := u.file.Lines[i].Number()
			ranks[rank] = true
		}
		if len(ranks) > 1 {
			s.Notes = append(s.Notes, u.file.Name+": the ranks of its roots differ, which is not modelled: all are "+
				"taken for roots")
		}
	}
}

// VendorEngines returns the engine names of NVIDIA's OpenSM that a chain can contain in addition to [EngineNames].
func VendorEngines() []string {
	var names []string
	for _, e := range vendorEngines {
		names = append(names, e.name)
	}
	return names
}

// Groups returns the kind of port groups for the tables of an engine, and how switches use these groups. If the engine
// is not in the chain, it returns the kind of the first engine.
func (s *Settings) Groups(engine string) (GroupKind, adaptive.How) {
	how := adaptive.Always
	if s.how != nil {
		how = *s.how
	}
	if s.groupsOff {
		return NoGroups, how
	}
	kind, ok := s.groups[engine]
	if !ok && !slices.Contains(s.Engines(), engine) && len(s.Chain) > 0 {
		kind = s.groups[s.Chain[0]]
	}
	return kind, how
}

// vendorOption is an option of NVIDIA's OpenSM that OpenSM 3.3.23 does not have.
type vendorOption struct {
	name    string
	numbers bool // its value is a number from 0 to high
	high    uint64
	boolean bool
	take    func(*Settings, uint64) // nil if it has no effect here
}

var vendorOptions = []vendorOption{
	{name: "ar_mode", numbers: true, high: 3, take: func(s *Settings, n uint64) { s.groupsOff = n == 0 }},
	{name: "shield_mode", numbers: true, high: 3, take: func(s *Settings, n uint64) { s.how.FastReroute = n != 0 }},
	{name: "ar_sl_mask", numbers: true, high: 0xffff, take: func(s *Settings, n uint64) { s.how.SLs = uint16(n) }},
	{name: "ar_transport_mask", numbers: true, high: 0xff},
	{name: "enable_ar_by_device_cap", boolean: true},
	{name: "ar_tree_asymmetric_flow", numbers: true, high: 3},
	{name: "dfp_down_up_turns_mode"},
	{name: "hbf_sl_mask", numbers: true, high: 0xffff},
	{name: "hbf_hash_type"},
	{name: "hbf_weights"},
	{name: "pfrn_sl", numbers: true, high: 15},
	{name: "max_cas_on_spine"},
	{name: planarized, boolean: true},
	{name: "max_operational_vls"},
	{name: "virt_max_ports_in_process"},
	{name: portGroupPolicy},
	{name: "routing_threads_num"},
	{name: "smp_threads"},
	{name: "gmp_threads"},
	{name: "max_wire_smps_per_device"},
	{name: "enable_inc_mc_routing"},
}

const (
	planarized      = "planarized_routing_enabled"
	portGroupPolicy = "pgrp_policy_file" // defines port groups, which other files name instead of GUIDs
)

// vendorConf holds the lines of an opensm.conf that only NVIDIA's OpenSM knows.
type vendorConf struct {
	lines []osm.ConfOption // the last one of each word, checked
	notes []string
}

// readVendor sorts the options that OpenSM 3.3.23 does not have. It returns an error for an invalid value.
func readVendor(conf *osm.Conf) (v vendorConf, err error) {
	var unknown, idle []string
	named := func(words []string, name string, line int) []string {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, name+" ") }) {
			return words
		}
		return append(words, fmt.Sprintf("%s (line %d)", name, line))
	}
	for _, o := range conf.Unknown {
		i := slices.IndexFunc(vendorOptions, func(x vendorOption) bool { return x.name == o.Name })
		if i < 0 {
			unknown = named(unknown, o.Name, o.Line)
			continue
		}
		known := &vendorOptions[i]
		if err := known.check(o.Value); err != nil {
			return v, fmt.Errorf("%s:%d: %s: %w", conf.Name, o.Line, o.Name, err)
		}
		if known.take == nil {
			idle = named(idle, o.Name, o.Line)
		}
		v.lines = append(slices.DeleteFunc(v.lines, func(l osm.ConfOption) bool { return l.Name == o.Name }), o)
	}
	if len(idle) > 0 {
		v.notes = append(v.notes, fmt.Sprintf("%s: options of NVIDIA's OpenSM, without effect here: %s", conf.Name,
			strings.Join(idle, ", ")))
	}
	if len(unknown) > 0 {
		v.notes = append(v.notes,
			fmt.Sprintf("%s: ignored, neither options of OpenSM 3.3.23 nor known ones of NVIDIA's: %s", conf.Name,
				strings.Join(unknown, ", ")))
	}
	return v, nil
}

// namesPortGroups reports whether a file of GUIDs instead contains names of port groups, which NVIDIA's OpenSM permits
// if an opensm.conf has a policy of port groups.
func namesPortGroups(ctx context.Context, conf *osm.Conf, path string) bool {
	if !slices.ContainsFunc(conf.Unknown, func(o osm.ConfOption) bool { return o.Name == portGroupPolicy }) {
		return false
	}
	f, err := files.Parse(ctx, path, files.List, osm.ReadGUIDFile)
	return err == nil && f.Broken && len(f.Lines) == 0
}

func (o *vendorOption) check(value string) error {
	switch {
	case o.numbers:
		most := fmt.Sprint(o.high)
		if o.high > 15 {
			most = fmt.Sprintf("%#x", o.high)
		}
		if n, err := strconv.ParseUint(value, 0, 64); err != nil || n > o.high {
			return fmt.Errorf("%q, expected 0 to %s", value, most)
		}
	case o.boolean && !slices.Contains([]string{"true", "false"}, strings.ToLower(value)):
		return fmt.Errorf("%q, expected TRUE or FALSE", value)
	}
	return nil
}

// Around holds properties of the machine and of the subnet that are needed to read an opensm.conf.
type Around struct {
	CacheDir string                // of OpenSM, "" for none
	ConfDir  string                // of the files that OpenSM reads by default, "" for none
	Shape    func() classify.Shape // of the subnet, for the engine auto; nil if unknown
}

// file returns the file that an option of conf names, or else the default file of OpenSM. It returns "" if there is
// none.
func (a *Around) file(conf *osm.Conf, option string) string {
	path := conf.Value(option)
	switch {
	case path == "", slices.ContainsFunc(conf.Options, func(o osm.ConfOption) bool { return o.Name == option }):
		return path
	case a.ConfDir == "":
		return ""
	}
	return filepath.Join(a.ConfDir, filepath.Base(path))
}

// auto returns the engine that NVIDIA's engine auto chooses for trees and Dragonfly+.
func (a *Around) auto(from string) (engine, note string) {
	if a.Shape == nil {
		return autoEngine, from + ": the engine auto is chosen by the subnet only for an opensm.conf (engine from=FILE)"
	}
	shape := a.Shape()
	switch shape {
	case classify.FatTree, classify.Single:
		engine = VendorDefault
	case classify.DragonflyPlus:
		engine = "dfp"
	default:
		return autoEngine, fmt.Sprintf("%s: the engine auto distinguishes trees and dragonfly+, and this subnet "+
			"is recognized as %s", from, shape)
	}
	return engine, fmt.Sprintf("%s: the engine auto is taken for %s, as the subnet is recognized as %s", from,
		engine, shape)
}

// chain returns the engines of the file that ibconsole implements. If the file names none but is for NVIDIA's OpenSM,
// it returns the default engine of NVIDIA's OpenSM.
func (v *vendorConf) chain(conf *osm.Conf, around *Around, notes []string) (chain, more []string) {
	list := conf.Get("routing_engine")
	if list == "" && len(v.lines) > 0 {
		list = VendorDefault
		notes = append(notes,
			fmt.Sprintf("%s: it names no routing_engine, and %s on line %d is of NVIDIA's OpenSM: taken for its "+
				"default from 5.10 on, %s",
				conf.Name, v.lines[0].Name, v.lines[0].Line, list))
	}
	return modelledChain(list, conf.Name, around, notes)
}

// apply applies the options to the groups.
func (v *vendorConf) apply(s *Settings, conf *osm.Conf) {
	how := adaptive.Always
	s.how = &how
	for _, l := range v.lines {
		i := slices.IndexFunc(vendorOptions, func(x vendorOption) bool { return x.name == l.Name })
		if n, err := strconv.ParseUint(l.Value, 0, 64); err == nil && vendorOptions[i].take != nil {
			vendorOptions[i].take(s, n)
		}
		if l.Name == planarized && strings.EqualFold(l.Value, "true") && conf.Get("root_guid_file") == "" {
			v.notes = append(v.notes, fmt.Sprintf("%s:%d: %s needs a root_guid_file, and the file names none",
				conf.Name, l.Line, planarized))
		}
	}
}
