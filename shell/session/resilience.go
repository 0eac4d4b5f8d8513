// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/routing/changes/resilience"
)

// Resilience goes on with a study of what failures of a kind do to a picture with tables. Start makes or
// finds the report to go on with. It tells save of every few hundred failures. Where ctx ends first there is
// a report that says how far it is beside ctx's error.
func (s *Session) Resilience(ctx context.Context, p *Picture, kind resilience.Kind,
	start func(*resilience.Study) (*resilience.Report, error), save func(*resilience.Report) error,
) (*resilience.Report, error) {
	end, err := s.begin(ctx, "resilience")
	if err != nil {
		return nil, err
	}
	defer end()
	study, err := s.Study(ctx, p, kind)
	if err != nil {
		return nil, err
	}
	r, err := start(study)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = study.Run(ctx, r, func(r *resilience.Report) {
		s.progress(r.Done, r.Share())
		if err := save(r); err != nil {
			stop(err)
		}
	})
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// Study prepares a study of what failures of a kind do to a picture with tables. It holds up nothing else.
func (s *Session) Study(ctx context.Context, p *Picture, kind resilience.Kind) (*resilience.Study, error) {
	base, err := s.analysis.RoutesFrom(ctx, p.Tables)
	if err != nil {
		return nil, err
	}
	return resilience.New(ctx, base, kind)
}
