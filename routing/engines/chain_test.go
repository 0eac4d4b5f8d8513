// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// tryAll tries the engines of a chain.
func tryAll(ctx context.Context, names []string, f *fabric.Fabric, opt routing.Options) (*routing.Result,
	[]engines.Refusal, error) {
	chain, err := engines.Chain(names)
	if err != nil {
		return nil, nil, err
	}
	return engines.Try(ctx, chain, f, opt)
}

func TestChain(t *testing.T) {
	torus, tree := gentest.WithLIDs(t, "torus:4x4"), gentest.WithLIDs(t, "fattree:2,12")
	for _, c := range []struct {
		names    string
		refuses  bool // of updn
		want     string
		refusals int
	}{
		{"", false, "minhop", 0},
		{"dor", false, "dor", 0},
		{"updn dnup", false, "updn", 0},
		{"updn", true, "minhop", 1},
		{"updn dnup minhop", true, "dnup", 1},
		{"updn updn no_fallback", true, "", 2},
		{"no_fallback dor", false, "dor", 0},
	} {
		f := tree
		if c.refuses {
			f = torus
		}
		res, refusals, err := tryAll(context.Background(), strings.Fields(c.names), f, routing.Options{})
		var none *engines.NoneError
		switch {
		case c.want == "":
			if !errors.As(err, &none) || len(none.Refusals) != c.refusals ||
				!strings.Contains(err.Error(), "updn: no roots found") {
				t.Errorf("%s: %v, want that all refuse", c.names, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.names, err)
		case res.Tables.Origin != c.want || len(refusals) != c.refusals:
			t.Errorf("%s: routed by %s after refusals %v, want %s after %d", c.names, res.Tables.Origin, refusals,
				c.want, c.refusals)
		}
	}
}

func TestChainErrors(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,4")
	for names, want := range map[string]string{
		"updn upndown": `unknown engine "upndown"`,
		"no_fallback":  "requires an engine",
	} {
		if _, _, err := tryAll(context.Background(), strings.Fields(names), f, routing.Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", names, err, want)
		}
	}
	// Errors that are not refusals end the chain.
	bare := gentest.Fabric(t, "fattree:2,4")
	_, refusals, err := tryAll(context.Background(), []string{"updn"}, bare, routing.Options{})
	if err == nil || len(refusals) > 0 || !strings.Contains(err.Error(), "has no LID") {
		t.Errorf("without LIDs: %v after %v", err, refusals)
	}
}
