// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// Tables names what changes, under what the text calls it.
func (a diffAnswer) Tables() []Table {
	if a.before == nil {
		return nil
	}
	r := a.Result
	all := []Table{
		pairTable("pairs lost", r.CutOff, r.Pairs.CutOff, a.before),
		pairTable("pairs reached by luck", r.ByLuck, r.Pairs.ByLuck, a.after),
		pairTable("pairs newly connected", r.Connected, r.Pairs.Connected, a.after),
		pairTable("pairs with another path", r.Changed, r.Pairs.Changed, a.after),
		endTable("end ports gone", r.Gone, a.before),
		endTable("end ports come", r.Come, a.after),
		tableOf("LIDs moved", []string{"PORT", "LID WAS", "LID IS"}, r.Moved, func(m diff.Moved) plainRow {
			return plainRow{leads{feature.ToPort(a.after.Fabric, a.after.Fabric.PortByGUID(uint64(m.GUID)))}, []any{m.Name, m.LID, m.NewLID}}
		}),
		linkTable("links down", r.Down),
		linkTable("links up", r.Up),
		tableOf("LFT entries", []string{"SWITCH", "ENTRIES", "BLOCKS", "TOP WAS", "TOP IS"}, r.Switches, func(s diff.Switch) plainRow {
			return plainRow{leads{Lead{GUID: uint64(s.GUID)}}, []any{s.Name, s.Changed, s.Blocks, s.TopOld, s.TopNew}}
		}),
		tableOf("links with other loads", []string{"FROM", "TO", "PATHS WAS", "PATHS", "CHANGE", "ENTRIES WAS", "ENTRIES"}, r.Loads, func(l diff.Load) plainRow {
			to := "-"
			if l.To != nil {
				to = l.To.Name
			}
			return plainRow{leads{Lead{GUID: uint64(l.From.GUID), Port: l.From.Num}}, []any{l.From.Name, to, l.PathsOld, l.PathsNew, l.PathsNew - l.PathsOld, l.EntriesOld, l.EntriesNew}}
		}),
	}
	if a.Adaptive != nil {
		all = append(all, a.adaptiveTable())
	}
	if a.Failover != nil {
		all = append(all, a.Failover.Tables()...)
	}
	return all
}

// pairTable are the first of all pairs of a kind; they lead to their paths in a picture that has them.
func pairTable(title string, pairs []diff.Pair, all int64, p *session.Picture) Table {
	f := p.Fabric
	t := tableOf(title, []string{"FROM", "LID", "TO", "LID", "SWITCH", "SWITCH"}, pairs, func(x diff.Pair) plainRow {
		src, dst := f.PortByGUID(uint64(x.Src.GUID)), f.PortByGUID(uint64(x.Dst.GUID))
		return plainRow{leads{feature.ToTrace(p, src, dst, x.Dst.LID)}, []any{x.Src.Name, x.Src.LID, x.Dst.Name, x.Dst.LID, leafOf(f, src), leafOf(f, dst)}}
	})
	t.More = int(all) - len(t.Rows)
	return t
}

func endTable(title string, ports []diff.Port, p *session.Picture) Table {
	return tableOf(title, []string{"PORT", "LID", "SWITCH"}, ports, func(x diff.Port) plainRow {
		port := p.Fabric.PortByGUID(uint64(x.GUID))
		return plainRow{leads{feature.ToPort(p.Fabric, port)}, []any{x.Name, x.LID, leafOf(p.Fabric, port)}}
	})
}

func linkTable(title string, links []diff.Link) Table {
	return tableOf(title, []string{"PORT", "PORT"}, links, func(l diff.Link) plainRow {
		return plainRow{leads{Lead{GUID: uint64(l.A.GUID), Port: l.A.Num}}, []any{l.A.Name, l.B.Name}}
	})
}
