// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"strings"
	"syscall"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
)

// TestOpenSMMindsMaxOpVLsLate: with too few VLs for lash or dfsssp, a master gives the switches their
// tables on its first sweep, and on its second keeps those of their routes that are among
// the shortest. What is computed anew is neither, and says so.
func TestOpenSMMindsMaxOpVLsLate(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, engine := range []string{"lash", "dfsssp"} {
		t.Run(engine, func(t *testing.T) { mindsLate(t, engine) })
	}
}

func mindsLate(t *testing.T, engine string) {
	f := made(t, "torus:6x5")
	c := &trial{chain: []string{engine}, conf: "max_op_vls 1\nqos TRUE\n"}
	m := startManager(t, start(t, f), c)
	m.rest(t)
	f, err := withLIDs(f, m.dir)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := tryAll(t.Context(), c.chain, f, c.opt)
	if err != nil || first.Tables.Origin != engine {
		t.Fatal(err)
	}
	if err := sameLFTs(m.dir, first); err != nil {
		t.Fatalf("the first sweep: %v", err)
	}
	if err := m.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.rest(t)
	c.opt.MaxOpVLs, c.opt.Existing = 1, first.Tables.LFT
	second, refusals, err := tryAll(t.Context(), c.chain, f, c.opt)
	if err != nil || second.Tables.Origin != "minhop" || !refusals[0].TooFewVLs {
		t.Fatal(refusals, err)
	}
	if err := sameLFTs(m.dir, second); err != nil {
		t.Errorf("the second sweep: %v", err)
	}
	c.opt.Existing = nil
	chain, err := engines.Chain(c.chain)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := compute.Run(t.Context(), &compute.Job{Fabric: f, Base: f, Engines: chain, Options: c.opt})
	if err != nil {
		t.Fatal(err)
	}
	if sameLFTs(m.dir, &ours.Result) == nil || !strings.HasPrefix(ours.Figures.DiffersFromOpenSM, "NOT OpenSM's") {
		t.Errorf("computed anew: %q", ours.Figures.DiffersFromOpenSM)
	}
}
