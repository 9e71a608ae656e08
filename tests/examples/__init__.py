"""The examples, copied alone into an empty folder, beside a folder of PDFs."""
