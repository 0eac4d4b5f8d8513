// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/engines/torus"
)

// unmodelled are options of opensm.conf that can change routes or P_Keys but that ibconsole does not support. The
// values are those that have no effect. With allow_both_pkeys, members with "both" have two P_Keys of a partition.
var unmodelled = map[string]string{
	"avoid_throttled_links": "FALSE",
	"allow_both_pkeys":      "FALSE",
}

var aliases = map[string]string{"dimn_ports_file": "port_search_ordering_file"} // older names of options

// ReadConf reads engines and options from an opensm.conf. The given chain and options take precedence. If no option
// names a guid2lid file, ReadConf reads the one in OpenSM's cache directory, but uses it only for ports without a LID.
// It adds notes about options that are not modelled.
func ReadConf(ctx context.Context, path string, around Around, chain []string, given []Setting) (Settings, error) {
	conf, err := files.Parse(ctx, path, files.Config, osm.ReadConf)
	if err != nil {
		return Settings{}, err
	}
	vendor, err := readVendor(conf)
	if err != nil {
		return Settings{}, err
	}
	over, notes := chain, prose.Words(conf.Notes, osm.FileNote.String)
	if len(chain) == 0 {
		chain, notes = vendor.chain(conf, &around, notes)
	}
	options, notes := confOptions(ctx, conf, notes)
	options = withDefaults(options)
	for _, option := range []string{partitionFile, policyFile} {
		if path := around.file(conf, option); indexSetting(options, option) < 0 && path != "" {
			if _, err := os.Stat(path); err == nil {
				options = append(options, Setting{option, path})
			}
		}
	}
	options, notes = withoutBrokenPolicy(ctx, options, notes)
	for _, g := range given {
		if i := indexSetting(options, g.Name); i >= 0 {
			options[i] = g
		} else {
			options = append(options, g)
		}
	}
	s, err := Parse(ctx, chain, options)
	if err != nil {
		return Settings{}, fmt.Errorf("%s: %w", conf.Name, err)
	}
	s.conf, s.asked = path, asked{over, given}
	s.findLIDs(ctx, around.CacheDir)
	vendor.apply(&s, conf)
	s.withoutFiles(conf, given)
	s.noteTorusQoS(conf)
	if err := s.defaultTorus(ctx, around.file(conf, torusConfig)); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", conf.Name, err)
	}
	for _, o := range conf.Options {
		if harmless, ok := unmodelled[o.Name]; ok && o.Value != harmless {
			notes = append(notes, fmt.Sprintf("%s:%d: %s is not modelled", conf.Name, o.Line, o.Name))
		}
	}
	s.Notes = slices.Concat(notes, vendor.notes, s.Notes)
	return s, nil
}

// modelledChain splits a list of engines as OpenSM does. It removes the engines that ibconsole does not implement, and
// names that are no engines. The argument from is the place of the list, which the notes contain.
func modelledChain(list, from string, around *Around, notes []string) (chain, more []string) {
	known := EngineNames()
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
		if name == autoEngine {
			var note string
			name, note = around.auto(from)
			notes = append(notes, note)
		}
		switch {
		case slices.Contains(known, name) || findVendorEngine(name) != nil:
			chain = append(chain, name)
		case name == autoEngine || slices.Contains(unmodelledEngines, name):
			notes = append(notes,
				fmt.Sprintf("%s: the engine %q of NVIDIA's OpenSM is not modelled; where it routes, what follows of "+
					"the chain is only an estimate", from, name))
		default:
			notes = append(notes, fmt.Sprintf("%s: OpenSM has no engine %q%s; it logs an error and tries the next "+
				"engine, the last is minhop", from, name, nearEngine(name)))
		}
	}
	return chain, notes
}

// nearEngine returns a text that suggests the engine with the nearest name, or "" if no name is near.
func nearEngine(name string) string {
	near := prose.Nearest(name, slices.Concat(EngineNames(), VendorEngines(), unmodelledEngines))
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}

// confOptions returns the options of the file that ibconsole knows. As in OpenSM, a boolean other than TRUE is off, and
// a file that cannot be read is ignored.
func confOptions(ctx context.Context, conf *osm.Conf, notes []string) (out []Setting, more []string) {
	for _, o := range conf.Options {
		name := o.Name
		if alias, ok := aliases[name]; ok {
			name = alias
		}
		i := slices.IndexFunc(Options, func(x Option) bool { return x.Name == name })
		if i < 0 {
			continue
		}
		if Options[i].boolean && o.Value != "TRUE" {
			o.Value = "FALSE"
		}
		if Options[i].File && namesPortGroups(ctx, conf, o.Value) {
			notes = append(notes, fmt.Sprintf("%s:%d: %s names port groups of %s, which only NVIDIA's OpenSM reads; "+
				"they are not followed, and the engine routes without %[3]s", conf.Name, o.Line, name, portGroupPolicy))
			continue
		}
		if _, err := os.Stat(o.Value); err != nil && Options[i].File {
			then := "OpenSM goes on without it"
			switch {
			case name == torusConfig:
				then = "torus-2QoS refuses"
			case Options[i].without != nil:
				then = "for OpenSM it is a broken one"
			}
			notes = append(notes, fmt.Sprintf("%s:%d: %s: %v; %s", conf.Name, o.Line, name, files.Err(err), then))
			continue
		}
		out = append(out, Setting{name, o.Value})
	}
	return out, notes
}

// Options for files that OpenSM also reads without the option, where it looks by default.
const (
	partitionFile = "partition_config_file"
	policyFile    = "qos_policy_file"
)

const torusConfig = "torus_config" // the option that names the configuration of torus-2QoS

// defaultTorus reads the configuration file that torus-2QoS uses with this opensm.conf, unless another was given. If it
// cannot be read, torus-2QoS will refuse to route.
func (s *Settings) defaultTorus(ctx context.Context, path string) error {
	if s.torus.Conf != nil || !slices.Contains(s.Chain, torus.Name) {
		return nil
	}
	if path == "" {
		s.torus.Unread = errors.New("torus_config names no file")
	} else {
		s.torus.Unread = setTorus(ctx, s, path)
	}
	return s.chooseEngines()
}

// findLIDs reads the guid2lid file in OpenSM's cache directory, if it exists and no other file was given.
func (s *Settings) findLIDs(ctx context.Context, dir string) {
	file := filepath.Join(dir, "guid2lid")
	if _, err := os.Stat(file); dir == "" || err != nil || s.lids.GUID2LID != nil || s.lids.Reassign {
		return
	}
	if err := setGUID2LID(ctx, s, file); err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("read file of the LIDs that OpenSM assigned to port GUIDs on "+
			"this machine: %v", err))
		return
	}
	s.lids.FoundFile = fabric.Escape(file)
	s.Notes = append(s.Notes, fmt.Sprintf("%s gives LIDs to ports without one: OpenSM remembers them there",
		s.lids.FoundFile))
}

// withoutBrokenPolicy removes a policy that OpenSM rejects, which it then does without.
func withoutBrokenPolicy(ctx context.Context, options []Setting, notes []string) (kept []Setting, more []string) {
	i := indexSetting(options, policyFile)
	if i < 0 {
		return options, notes
	}
	if err := setPolicy(ctx, &Settings{}, options[i].Value); err != nil {
		notes = append(notes, fmt.Sprintf("%v; OpenSM goes on without %s", err, policyFile))
		return slices.Delete(options, i, i+1), notes
	}
	return options, notes
}

func indexSetting(list []Setting, name string) int {
	return slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
}
