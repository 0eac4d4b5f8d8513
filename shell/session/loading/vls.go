// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session"
)

// loadOver replaces the SL2VL tables, SLs or multicast tables of the staged state, or of the live state if nothing is
// staged. It stages the result.
func (s loader) loadOver(ctx context.Context, kind, path string) (Report, error) {
	st := s.State()
	p, err := st.FreshTablesOf("")
	if err != nil {
		return Report{}, err
	}
	tables := *p.Tables
	rep, name := Report{Over: kind}, fabric.Escape(path)
	err = files.Read(ctx, path, prose.When(kind == "sl2vl", files.Tables, files.Entries), func(r io.Reader) error {
		if kind == "sls" {
			sls, err := osm.ReadPathSLs(r, name)
			tables.SLs = sls
			return err
		}
		if kind == "mcfdbs" {
			mft, read, err := osm.ReadMCFDBs(r, name, p.Fabric)
			if err == nil && read.Switches == 0 {
				err = noneOfIts(path, read.Lines())
			}
			tables.MFT, rep.Notes = mft, read.Lines()
			return err
		}
		vls, read, err := osm.ReadSL2VL(r, name, p.Fabric)
		if err != nil {
			return err
		}
		if rep.Ignored = ownVLs(p, vls); rep.Ignored != "" {
			return nil
		}
		tables.SL2VL, rep.Notes = vls, read.Lines()
		return nil
	})
	if err != nil || rep.Ignored != "" {
		return rep, err
	}
	tables.Origin = fmt.Sprintf("%s with %s", tables.Origin, fabric.Escape(filepath.Base(path)))
	s.op.StageTables(p, &tables)
	return rep, nil
}

// ownVLs returns the reason why loaded SL2VL tables are ignored: the routes are of torus-2QoS, whose tables differ. It
// returns "" if the tables are equal or the routes are of another engine.
func ownVLs(p *session.Picture, loaded *fabric.SL2VL) string {
	if _, ok := torus.Of(p.Tables); !ok || p.Tables.SL2VL == nil {
		return ""
	}
	f := p.Fabric
	for _, node := range f.Switches {
		n := &f.Nodes[node]
		for out := range fabric.PortIndex(n.NumPorts) + 1 {
			for in := range n.NumPorts {
				ours, theirs := p.Tables.SL2VL.VLs(node, in+1, uint8(out)), loaded.VLs(node, in+1, uint8(out))
				if f.Ports[n.FirstPort+out].Linked() && ours != theirs {
					return fmt.Sprintf("ignored: on %s from port %d to %d it differs, and torus-2QoS maps SLs to "+
						"VLs itself", f.NodeName(node), in+1, out)
				}
			}
		}
	}
	return ""
}
