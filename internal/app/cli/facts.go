// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/internal/app/bugreport"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// facts returns the facts about the subnet at a source for a bug report. It opens its own session and writes nothing.
func facts(ctx context.Context, src source.Source, opt session.Options) bugreport.Subnet {
	out := bugreport.Subnet{Kind: string(src.Kind)}
	s, err := session.Open(ctx, src, opt)
	if err != nil {
		out.Failed = err
		return out
	}
	defer func() { _ = s.Close() }() // read only
	if out.Failed = s.Start(ctx); out.Failed != nil {
		return out
	}
	st := s.State()
	out.Fabric, out.Structure = st.Live.Fabric, classify.Recognise(st.Live.Fabric, nil).Title()
	for _, sm := range st.SMs {
		out.Managers = append(out.Managers, fmt.Sprintf("%s, priority %d, vendor 0x%06x", sm.State, sm.Priority,
			sm.VendorID))
	}
	out.Figures = map[string]string{
		"read in":    st.SweepTook.Round(time.Millisecond).String(),
		"unanswered": prose.Count(len(st.Unanswered), "thing"),
		"warnings":   fmt.Sprint(len(st.Warnings)), "GUIDs and LIDs that two claim": fmt.Sprint(len(st.Duplicates)),
	}
	if t := st.Live.Tables; t != nil {
		out.Figures["highest LID of tables"] = fmt.Sprint(t.LFT.MaxLID)
	}
	return out
}
