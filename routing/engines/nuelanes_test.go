// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/sweep/sweeptest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/engines/nue"
)

// TestNueVLsEqualOpenSM compares what nue gives VLs by: the SL2VL tables that all ports hold once OpenSM has routed,
// and the SLs that its subnet administration grants.
func TestNueVLsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 1000) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			nueVLs(t, rand.New(rand.NewPCG(seed, 28)))
		})
	}
}

func nueVLs(t *testing.T, r *rand.Rand) {
	what, f, lmc := trialFabric(t, r)
	c := nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
	c.opt.LMC = lmc
	sim := start(t, f)
	m := startManager(t, sim, c)
	m.rest(t)
	if err := sameVLs(t, sim, r, f, c); err != nil {
		t.Errorf("%s, LMC %d, %s: %v", what, lmc, c.conf, err)
	}
}

// sameVLs routes what is read of the subnet, and compares tables, SL2VL tables and SLs with what OpenSM put there and
// grants.
func sameVLs(t *testing.T, sim *ibsimtest.Sim, r *rand.Rand, f *fabric.Fabric, c *trial) error {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name, Node: f.Nodes[f.Ports[f.SMPort].Node].Desc})
	if err != nil {
		return err
	}
	client, err := mad.NewClient(transport, mad.ClientOptions{Window: 32})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	live, err := sweep.Full(t.Context(), client, sweep.Options{SL2VL: true})
	if err != nil {
		return err
	}
	res, _, err := tryAll(t.Context(), c.chain, live.Fabric, c.opt)
	if err != nil {
		return err
	}
	for s := range fabric.SwitchIndex(len(live.Fabric.Switches)) {
		if got, want := res.Tables.LFT.Row(s)[:live.Fabric.MaxLID+1], live.Tables.LFT.Row(s)[:live.Fabric.MaxLID+
			1]; !bytes.Equal(got, want) {
			return fmt.Errorf("%s holds\n%v, ours is\n%v", live.Fabric.NodeName(live.Fabric.Switches[s]), want, got)
		}
	}
	if res.Tables.Origin != nue.Name {
		return nil // it refuses, as OpenSM's did
	}
	if len(live.Unanswered) > 0 || (res.Tables.SL2VL == nil) != (res.Tables.SLs == nil) {
		return fmt.Errorf("%d ports did not answer; our SLs are %v, our SL2VL tables %v", len(live.Unanswered),
			res.Tables.SLs, res.Tables.SL2VL)
	}
	if res.Tables.SLs == nil {
		return sweeptest.PathSLs(t.Context(), client, r, res.Tables, lowest{}) // on one VL
	}
	if err := sweeptest.SL2VL(live, res.Tables.SL2VL); err != nil {
		return err
	}
	return sweeptest.PathSLs(t.Context(), client, r, res.Tables, res.Tables.SLs)
}

// lowest are the SLs where nothing asks for any.
type lowest struct{}

func (lowest) SL(_, _ uint16) uint8 { return 0 }
