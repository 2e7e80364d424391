# Each target is something you could type yourself.
.PHONY: build install test check golden fuzz bench corpus calibrate lint release help

FUZZTIME ?= 30s
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0

build: ## build ./benchreport
	CGO_ENABLED=0 go build -o benchreport ./cmd/benchreport

install: ## install benchreport into your Go bin folder
	CGO_ENABLED=0 go install ./cmd/benchreport

test: check ## formatting, vet and all tests
	go test ./...

check: ## formatting and vet
	@out=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); if [ -n "$$out" ]; then echo "not gofmt-ed:"; echo "$$out"; exit 1; fi
	go vet ./...

lint: check ## staticcheck, vet for the other systems, known vulnerabilities
	go run $(STATICCHECK) ./...
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	@out=$$(go run $(GOVULNCHECK) ./... 2>&1) && echo "$$out" || case $$out in \
	*"fetching vulnerabilities"*) echo "$$out"; echo "govulncheck: SKIPPED, its database vuln.go.dev cannot be reached" ;; \
	*) echo "$$out"; exit 1 ;; esac

golden: ## rewrite the golden files; then read the diff
	go test ./parse ./render/plots ./cmd/... -update
	UPDATE_SCRIPTS=1 go test ./cmd/...

corpus: ## count the results in the corpus of real logs beside the repository, if it is there
	go test ./parse -run 'TestCorpus' -v -count=1

calibrate: ## measure the false alarms and the power of the verdicts
	BENCHREPORT_CALIBRATE=1 go test ./analyze -run Calibrat -v -count=1 -timeout 30m

fuzz: ## fuzz every target for FUZZTIME (30s)
	go test ./parse -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(FUZZTIME)
	go test ./parse -run '^$$' -fuzz '^FuzzJSON$$' -fuzztime $(FUZZTIME)
	go test ./notes -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(FUZZTIME)
	go test ./analyze -run '^$$' -fuzz '^FuzzAudit$$' -fuzztime $(FUZZTIME)
	go test ./render -run '^$$' -fuzz '^FuzzMarkdown$$' -fuzztime $(FUZZTIME)
	go test ./render -run '^$$' -fuzz '^FuzzReport$$' -fuzztime $(FUZZTIME)
	go test ./cmd/benchreport -run '^$$' -fuzz '^FuzzConfig$$' -fuzztime $(FUZZTIME)

bench: ## throughput and allocations of the readers
	go test ./parse ./render/... -run '^$$' -bench . -benchmem

release: ## archives for linux, macOS and windows in dist/, the same bytes each time
	rm -rf dist
	go run ./internal/release

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10
