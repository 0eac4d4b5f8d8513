// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"fmt"
	"os"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
)

// guidUse is a file of GUIDs, together with the option that names the file.
type guidUse struct {
	file *osm.GUIDFile
	kind osm.GUIDFileKind
}

// guidFile returns an option whose value is a file of GUIDs.
func guidFile(kind osm.GUIDFileKind, summary string, take func(*Settings, *osm.GUIDFile)) Option {
	read := func(ctx context.Context, s *Settings, path string) error {
		f, err := files.Parse(ctx, path, files.List, osm.ReadGUIDFile)
		if err != nil {
			return err
		}
		s.noteLines(f.Notes)
		if f.Broken {
			s.Notes = append(s.Notes, fabric.Escape(path)+": "+kind.AfterBroken())
		}
		s.guids = append(s.guids, guidUse{f, kind})
		take(s, f)
		return nil
	}
	return Option{Name: kind.Option(), Summary: summary, File: true, read: read}
}

// guidFileOrBroken is like guidFile for files whose absence matters. If an opensm.conf names a missing file, OpenSM
// treats it like a file with an unreadable line.
func guidFileOrBroken(kind osm.GUIDFileKind, summary string, take func(*Settings, *osm.GUIDFile)) Option {
	o := guidFile(kind, summary, take)
	o.without = func(s *Settings, path string) {
		take(s, &osm.GUIDFile{Name: fabric.Escape(path), Broken: true})
		s.Notes = append(s.Notes, fabric.Escape(path)+": "+kind.AfterBroken())
	}
	return o
}

// withoutFiles handles missing files that an opensm.conf names as OpenSM does. Options that were given separately are
// ignored.
func (s *Settings) withoutFiles(conf *osm.Conf, given []Setting) {
	for _, o := range conf.Options {
		i := slices.IndexFunc(Options, func(x Option) bool { return x.Name == o.Name })
		if i < 0 || Options[i].without == nil || indexSetting(given, o.Name) >= 0 {
			continue
		}
		if _, err := os.Stat(o.Value); err != nil {
			Options[i].without(s, o.Value)
		}
	}
}

func (s *Settings) noteLines(notes []osm.FileNote) {
	s.Notes = append(s.Notes, prose.Words(notes, osm.FileNote.String)...)
}

func takeRoots(s *Settings, f *osm.GUIDFile) {
	s.routing.RootGUIDs, s.routing.DetectRoots = f.GUIDs(), f.Broken
}

func takeComputeNodes(s *Settings, f *osm.GUIDFile) {
	s.routing.ComputeNodes = f.GUIDs()
	s.noteBroken(f, osm.ComputeNodes)
}

func takeIONodes(s *Settings, f *osm.GUIDFile) {
	s.routing.IONodes = f.GUIDs()
	s.noteBroken(f, osm.IONodes)
}

// noteBroken records that a file of nodes has a line that OpenSM cannot read.
func (s *Settings) noteBroken(f *osm.GUIDFile, kind osm.GUIDFileKind) {
	if f.Broken {
		s.routing.BrokenNodeFile = kind.Option()
	}
}

func takeIDs(s *Settings, f *osm.GUIDFile) {
	ids, stop := f.IDs(nil)
	if stop != nil {
		s.noteLines([]osm.FileNote{*stop})
	}
	s.routing.IDs = ids
}

func takeOrder(s *Settings, f *osm.GUIDFile) { s.routing.RoutingOrder = f.GUIDs() }

func takeIgnored(s *Settings, f *osm.GUIDFile) {
	ports, notes := f.Ports()
	s.noteLines(notes)
	s.routing.IgnoredPorts = map[routing.SwitchPort]bool{}
	for _, p := range ports {
		s.routing.IgnoredPorts[routing.SwitchPort{GUID: p.GUID, Port: p.Port}] = true
	}
}

func takeWeights(s *Settings, f *osm.GUIDFile) {
	weights, notes := f.Weights()
	s.noteLines(notes)
	s.routing.HopWeights = map[routing.SwitchPort]uint8{}
	for _, w := range weights {
		s.routing.HopWeights[routing.SwitchPort{GUID: w.GUID, Port: w.Port}] = w.Weight
	}
}

func takeSearchOrder(s *Settings, f *osm.GUIDFile) {
	orders, notes := f.Orders()
	s.noteLines(notes)
	for _, o := range orders {
		s.routing.PortSearchOrder = append(s.routing.PortSearchOrder, routing.PortOrder{GUID: o.GUID, Ports: o.Ports})
	}
}

// Strangers returns notes on the lines of the files that match nothing in a subnet, or for which OpenSM rejects a file
// there.
func (s *Settings) Strangers(f *fabric.Fabric) []string {
	var out []string
	for _, u := range s.guids {
		out = append(out, prose.Words(u.file.Check(f, u.kind), osm.FileNote.String)...)
	}
	if _, err := s.Policy(f); err != nil {
		out = append(out, fmt.Sprintf("%v; OpenSM goes on without %s", err, policyFile))
	}
	return out
}
