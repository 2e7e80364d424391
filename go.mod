module github.com/benchreport/benchreport

go 1.25.0

require (
	github.com/alecthomas/kong v1.16.1
	github.com/klauspost/compress v1.20.3
)
